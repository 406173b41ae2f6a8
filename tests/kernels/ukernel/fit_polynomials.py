# SPDX-License-Identifier: BSD-3-Clause
"""Fits the polynomials of kernels/ukernel/generic/vector_math.h.

`python tests/kernels/ukernel/fit_polynomials.py` prints for each function the coefficients (constant term
first), rounded to the type in which they are used, and the largest weighted error in bits. Needs numpy.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

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


def _log_tail(f: Array) -> Array:
    return (np.log1p(f) - f + f * f / 2) / f**3


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
        "tanh: x + x^3 P(x^2)",
        lambda s: (np.tanh(ROOT(s)) / ROOT(s) - 1) / s,
        lambda s: s,
        1e-4,
        0.6**2,
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
        "gelu: erfc(x / sqrt(2)) = e^(x P(x))",
        lambda x: each(lambda v: math.log(math.erfc(v / math.sqrt(2))))(x) / x,
        lambda x: x * each(lambda v: math.erfc(v / math.sqrt(2)))(x) / 2,
        0.0,
        4 * math.sqrt(2),
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


def main() -> None:
    """Prints all fits."""
    for job in FITS:
        coefficients, error = fit(job)
        print(f"{job.name}: 2^{math.log2(error):.1f}")
        for c in coefficients:
            print(f"    {float(c).hex()}  {c!r}")


if __name__ == "__main__":
    main()
