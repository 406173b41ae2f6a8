# SPDX-License-Identifier: BSD-3-Clause
"""Fits the polynomials and rational functions of kernels/ukernel/generic/vector_math.h.

`python tests/kernels/ukernel/fit_polynomials.py` prints for each function the coefficients (constant term
first), rounded to the type in which they are used, and the largest weighted error in bits. For a rational
function it also prints the bounds at which it is clamped. Needs numpy.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Fit:
    """A polynomial of `degree` in x for `target` over [low, high]; errors are multiplied by `weight`."""

    name: str
    target: Callable[[Array], Array]
    weight: Callable[[Array], Array]
    low: float
    high: float
    degree: int
    dtype: type = np.float32


@dataclass(frozen=True)
class Quotient:
    """A quotient of two polynomials of `degree` in x^2, the lower one from 1, for `target` over x from 0 to
    `high`; errors are multiplied by `weight`. `limit` is x times the target at the clamp."""

    name: str
    target: Callable[[Array], Array]
    weight: Callable[[Array], Array]
    high: float
    degree: int
    limit: float


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """Returns a function that applies `function` to each element."""
    return lambda x: np.array([function(float(v)) for v in x])


def _minimax(basis: Array, wanted: Array, weight: Array) -> Array:
    """Returns coefficients with nearly the least largest weighted error, by Lawson's iteratively reweighted
    least squares."""
    share = np.ones_like(wanted)
    best, best_error = None, np.inf
    for _ in range(300):
        scale = weight * np.sqrt(share)
        solution = np.linalg.lstsq(basis * scale[:, None], wanted * scale, rcond=None)[0]
        error = np.abs((basis @ solution - wanted) * weight)
        if error.max() < best_error:
            best, best_error = solution, error.max()
        share *= error
        share /= share.mean()
        share += 1e-12
    return best


def fit(job: Fit) -> tuple[list[float], float]:
    """Rounds the coefficients to the job's dtype one at a time and refits the others after each. Returns them
    and the error."""
    nodes = np.cos(np.linspace(0, np.pi, 1500))
    x = job.low + (job.high - job.low) * (nodes + 1) / 2
    x = x[np.abs(x) > 1e-6]
    wanted, weight = job.target(x), job.weight(x)
    powers = np.stack([x**k for k in range(job.degree + 1)], axis=1)
    fixed: list[float] = []
    for k in range(job.degree + 1):
        left = wanted - sum(c * powers[:, i] for i, c in enumerate(fixed))
        fixed.append(float(job.dtype(_minimax(powers[:, k:], left, weight)[0])))
    error = np.abs((powers @ np.array(fixed) - wanted) * weight).max()
    return fixed, float(error)


def _solve(job: Quotient, over: list[float], under: list[float]) -> tuple[list[float], list[float], float]:
    """Keeps the given first coefficients and fits the others, by Lawson's method on the linear problem of
    Sanathanan and Koerner: |over - target under| / (the previous under). Returns both and the error."""
    s = job.high**2 * np.maximum((np.cos(np.linspace(0, np.pi, 500)) + 1) / 2, 1e-10)
    scaled = s / job.high**2
    wanted, weight = job.target(np.sqrt(s)), job.weight(np.sqrt(s))
    powers = np.stack([scaled**k for k in range(job.degree + 1)], axis=1)
    scales = np.array([job.high ** (2 * k) for k in range(job.degree + 1)])
    m, n = len(over), len(under)
    above = powers[:, :m] @ (np.array(over) * scales[:m])
    below = powers[:, :n] @ (np.array(under) * scales[:n])
    basis = np.concatenate([powers[:, m:], -wanted[:, None] * powers[:, n:]], axis=1)
    count = job.degree + 1 - m
    divisor, share = np.ones_like(s), np.ones_like(s)
    best, least = np.zeros(basis.shape[1]), np.inf
    for step in range(120):
        scale = weight / np.abs(divisor) * np.sqrt(share)
        norms = np.linalg.norm(basis * scale[:, None], axis=0)
        right = (wanted * below - above) * scale
        solution = np.linalg.lstsq(basis * scale[:, None] / norms, right, rcond=None)[0] / norms
        divisor = below + powers[:, n:] @ solution[count:]
        error = np.abs(weight * ((above + powers[:, m:] @ solution[:count]) / divisor - wanted))
        if error.max() < least:
            best, least = solution, error.max()
        if step > 3:  # once the divisor has settled
            share *= error
            share = share / share.mean() + 1e-9
    return (
        [*over, *(best[:count] / scales[m:]).tolist()],
        [*under, *(best[count:] / scales[n:]).tolist()],
        float(least),
    )


def fit_quotient(job: Quotient) -> tuple[list[float], list[float], float]:
    """Rounds the coefficients to float32 in turns and refits the others after each."""
    over: list[float] = []
    under = [1.0]
    for k in range(job.degree + 1):
        over.append(float(np.float32(_solve(job, over, under)[0][k])))
        if k < job.degree:
            under.append(float(np.float32(_solve(job, over, under)[1][k + 1])))
    return _solve(job, over, under)


def bounds_of(job: Quotient, over: list[float], under: list[float]) -> list[float]:
    """The bounds with two decimals at which x over / under is at least the limit, with and without fused
    multiply-adds, so that a clamp of the result gives the limit."""
    x = np.arange(round(95 * job.high), round(100 * job.high)).astype(np.float64) / 100
    x = x.astype(np.float32)
    reaches = np.ones(len(x), bool)
    for inner in (np.float32, np.longdouble):
        sums = []
        for coefficients in (over, under):
            total = np.full_like(x, coefficients[-1])
            for c in coefficients[-2::-1]:
                total = (total.astype(inner) * (x * x) + np.float32(c)).astype(np.float32)
            sums.append(total)
        reaches &= x.astype(np.float64) * (sums[0] / sums[1]) >= job.limit
    return [round(float(each), 2) for each in x[reaches]]


def _log_tail(f: Array) -> Array:
    return (np.log1p(f) - f + f * f / 2) / f**3


def _scaled_erfc(x: float) -> float:
    """(2 x + 1) e^(x^2) erfc(x)."""
    return (2 * x + 1) * math.exp(x * x) * math.erfc(x)


def _inverse_erf_by(w: Array) -> Array:
    """erfinv(x) / x for w = -log(1 - x^2)."""
    x = np.sqrt(-np.expm1(-w))
    tail = np.exp(-w) / (2 * (1 + x))
    return -each(NormalDist().inv_cdf)(tail) / math.sqrt(2) / x


ROOT = np.sqrt
LN2_2 = math.log(2) / 2 + 1e-3
ERF_SPLIT = 0.921875

FITS = [
    Fit("exp: e^r = 1 + r + r^2 P(r)", lambda r: (np.expm1(r) - r) / r**2, lambda r: r, -LN2_2, LN2_2, 4),
    Fit("log: log(1+f) = f - f^2/2 + f^3 P(f)", _log_tail, lambda f: f**2, -1 / 3, 1 / 3, 7),
    Fit(
        "sin: r + r^3 P(r^2)",
        lambda s: (np.sin(ROOT(s)) / ROOT(s) - 1) / s,
        lambda s: s,
        1e-4,
        0.7856**2,
        2,
    ),
    Fit(
        "cos: 1 - r^2/2 + r^4 P(r^2)",
        lambda s: (np.cos(ROOT(s)) - 1 + s / 2) / s**2,
        lambda s: s**2,
        1e-2,
        0.7856**2,
        2,
    ),
    Fit(
        "asin: x + x^3 P(x^2)",
        lambda s: (np.arcsin(ROOT(s)) / ROOT(s) - 1) / s,
        lambda s: s,
        1e-4,
        0.25,
        4,
    ),
    Fit(
        "atan: x + x^3 P(x^2)",
        lambda s: (np.arctan(ROOT(s)) / ROOT(s) - 1) / s,
        lambda s: s,
        1e-4,
        math.tan(math.pi / 8) ** 2,
        4,
    ),
    Fit(
        "erf, small: x + x P(x^2)",
        lambda s: each(math.erf)(ROOT(s)) / ROOT(s) - 1,
        lambda s: np.ones_like(s),
        0,
        ERF_SPLIT**2,
        6,
    ),
    Fit(
        "erf, large: 1 - e^(x P(x))",
        lambda x: each(lambda v: math.log(math.erfc(v)))(x) / x,
        lambda x: x * each(math.erfc)(x),
        ERF_SPLIT,
        4.0,
        7,
    ),
    Fit(
        "erfc, large: e^(-x^2) / (2 x + 1) P((x - 2) / (x + 2))",
        lambda u: each(_scaled_erfc)(2 * (1 + u) / (1 - u)),
        lambda u: 1 / each(_scaled_erfc)(2 * (1 + u) / (1 - u)),
        -0.6,
        0.6722,
        9,
    ),
    Fit(
        "erfinv, w = -log(1 - x^2) below 5: x P(w - 2.5)",
        lambda v: _inverse_erf_by(v + 2.5),
        lambda v: 1 / _inverse_erf_by(v + 2.5),
        -2.5 + 1e-9,
        2.5,
        8,
    ),
    Fit(
        "erfinv, large: x P(sqrt(w) - 3)",
        lambda v: _inverse_erf_by((v + 3) ** 2),
        lambda v: 1 / _inverse_erf_by((v + 3) ** 2),
        math.sqrt(5) - 3,
        1.2,
        8,
    ),
    Fit(
        "pow: log2((1+f)/(1-f)) = f P(f^2)",
        lambda s: np.arctanh(ROOT(s)) / ROOT(s) * 2 / math.log(2),
        lambda s: np.ones_like(s),
        1e-9,
        0.1716**2,
        5,
        np.float64,
    ),
]

QUOTIENTS = [
    Quotient(
        "gelu: erf(x / sqrt(2)) / 2 = x P(x^2) / Q(x^2)",
        lambda x: each(lambda v: math.erf(v / math.sqrt(2)))(x) / (2 * x),
        lambda x: 2 * x,
        5.65,
        5,
        0.5,
    ),
]


def main() -> None:
    """Prints all fits."""
    for job in FITS:
        coefficients, error = fit(job)
        print(f"{job.name}: 2^{math.log2(error):.1f}")
        for c in coefficients:
            print(f"    {float(c).hex()}  {c!r}")
    for quotient in QUOTIENTS:
        over, under, error = fit_quotient(quotient)
        print(f"{quotient.name}: 2^{math.log2(error):.1f}")
        for name, polynomial in (("P", over), ("Q", under)):
            for c in polynomial:
                print(f"    {name}  {float(c).hex()}  {c!r}")
        print("    bounds", *bounds_of(quotient, over, under))


if __name__ == "__main__":
    main()
