# SPDX-License-Identifier: BSD-3-Clause
"""Special functions against torch, whose float64 results are exact to only 1e-7 for some of them."""

from __future__ import annotations

import math

import pytest
import torch

from support.harness import ALL, FLOATING, INTEGRAL, UNSIGNED_WIDE, Kernels, random_tensor

WIDE = [torch.bool, *INTEGRAL, *UNSIGNED_WIDE, torch.float32, torch.float64]
OF_ALL = [
    *("digamma", "erfc", "erfinv", "i0", "lgamma", "sinc", "special_entr", "special_i0e", "special_i1"),
    *("special_i1e", "special_ndtr"),
]
OF_WIDE = [
    *("special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"),
    *("special_erfcx", "special_log_ndtr", "special_modified_bessel_i0", "special_modified_bessel_i1"),
    *("special_modified_bessel_k0", "special_modified_bessel_k1", "special_ndtri"),
    *("special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1"),
    "special_spherical_bessel_j0",
]
CHEBYSHEV = [f"{kind}chebyshev_polynomial_{letter}" for kind in ("", "shifted_") for letter in "tuvw"]
POLYNOMIALS = [
    *CHEBYSHEV,
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"),
]
PAIRS = ["igamma", "igammac", "logaddexp", "logaddexp2"]
SPECIAL = [0.0, -0.0, 0.5, 1.0, -1.0, -2.0, 4.5, -3.7, 17.0, 30.0, math.inf, -math.inf, math.nan]


def exactly(name: str, values: torch.Tensor, result: torch.dtype) -> torch.Tensor:
    """torch's function in float64, rounded once."""
    function = getattr(torch.ops.aten, name)
    return function(values.double()).to(result)


def close(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances: torch's own error, or a unit in the last place of the 16-bit types."""
    if dtype in (torch.float16, torch.bfloat16):
        return {"rtol": 1e-3 if dtype == torch.float16 else 8e-3}
    return {"rtol": 2e-6, "atol": 5e-7}


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", OF_ALL)
def test_functions_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = random_tensor((9, 11), dtype, low=-4 if dtype.is_floating_point else 0, high=4)
    result = dtype if dtype.is_floating_point else torch.float32
    expected = exactly(name, values, result)
    kernels.check(f"aten::{name}.out", values, eager=lambda x: expected, **close(result))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", OF_WIDE)
def test_functions_of_every_dtype_but_16_bit_floats(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", random_tensor((9, 11), dtype, low=-4, high=4), **close(dtype))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8])
@pytest.mark.parametrize("result", [torch.float32, torch.float64, torch.bfloat16])
def test_many_bytes_are_looked_up(kernels: Kernels, dtype: torch.dtype, result: torch.dtype) -> None:
    values = torch.arange(2 * 1201).remainder(256).to(torch.uint8)
    values = values.view(dtype) if dtype == torch.int8 else values.to(dtype)
    values = values.reshape(2, 1201)
    name, number = "special_erfcx", torch.tensor(3, dtype=dtype)
    expected = exactly(name, values, torch.float32).to(result)
    kernels.check(f"aten::{name}.out", values, out_dtype=result, eager=lambda x: expected, **close(result))
    kernels.check("aten::special_hermite_polynomial_he.out", values, number, **close(torch.float32))


@pytest.mark.parametrize("name", [*OF_WIDE, "special_airy_ai"])
def test_16_bit_floats_are_refused_where_torch_does(kernels: Kernels, name: str) -> None:
    values = torch.ones(3, dtype=torch.float16)
    assert kernels.refuse(f"aten::{name}.out", values, outs=[values.clone()]).error == "InvalidType"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", [*OF_ALL, *OF_WIDE])
def test_special_numbers_and_large_ones(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", torch.tensor(SPECIAL, dtype=torch.float64).to(dtype), **close(dtype))
    if dtype == torch.float64:
        values = torch.cat(
            [torch.linspace(-90, 90, 173, dtype=dtype), torch.logspace(-20, 2, 60, dtype=dtype)]
        )
        kernels.check(f"aten::{name}.out", values, rtol=5e-6, atol=5e-7)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("special_bessel_j0", 7.5, 0.26633965788037840),
        ("special_bessel_y1", 0.3, -2.2931051383885290),
        ("special_modified_bessel_k0", 1.3, 0.27824764630002696),
        ("i0", 12.0, 18948.925349296309),
        ("erfinv", 1e-15, 8.8622692545275801e-16),
        ("special_ndtri", 1e-100, -21.273453560965318),
        ("special_erfcx", 25.0, 0.022549572432641250),
        ("lgamma", 0.1, 2.2527126517342060),
    ],
)
def test_float64_has_its_digits(kernels: Kernels, name: str, at: float, value: float) -> None:
    exact = torch.tensor([value], dtype=torch.float64)
    given = torch.tensor([at], dtype=torch.float64)
    kernels.check(f"aten::{name}.out", given, eager=lambda x: exact, rtol=1e-13, atol=0)


# By mpmath, in 30 digits: both polynomials of each function, and the seam between them at 2 or 8.
BESSEL = {
    "special_bessel_j0": (0.99993896577506626, 0.2252340691201067, 0.17165080713755391, 0.071722705110602229),
    "special_bessel_j1": (
        0.0078122615838462053,
        0.19160259218911781,
        0.23463634685391462,
        -0.10782334401927696,
    ),
    "special_bessel_y0": (
        -2.7212265411804422,
        0.17676987751364716,
        0.22352148938756622,
        -0.10876981940906564,
    ),
    "special_bessel_y1": (
        -40.767412572522731,
        -0.21433222865940805,
        -0.15806046173124749,
        -0.073179080431830065,
    ),
    "special_i0e": (0.98455652681615857, 0.14581227430891431, 0.14343178185685031, 0.065367509999835558),
    "special_i1e": (0.0076916131387341248, 0.13605110008033911, 0.13414249329269818, 0.064489970968286162),
    "special_modified_bessel_k0": (
        4.2751365535295789,
        0.15537981238660359,
        0.11389387274953344,
        1.0557774260777551e-17,
    ),
    "special_modified_bessel_k1": (
        63.962695443712315,
        0.19547745347439301,
        0.13986588181652243,
        1.0697630152680757e-17,
    ),
    "special_scaled_modified_bessel_k0": (
        4.3424601581428508,
        0.89414908415721733,
        0.84156821507077142,
        0.2039930838130817,
    ),
    "special_scaled_modified_bessel_k1": (
        64.969961331978828,
        1.1248950768625277,
        1.0334768470686886,
        0.20669532331679532,
    ),
}


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions_have_their_digits_on_both_sides_of_a_seam(kernels: Kernels, name: str) -> None:
    seam = 2.0 if "_k" in name else 8.0
    at = torch.tensor([0.015625, seam - 0.25, seam, 37.5], dtype=torch.float64)
    exact = torch.tensor(BESSEL[name], dtype=torch.float64)
    kernels.check(f"aten::{name}.out", at, eager=lambda x: exact, rtol=2e-14, atol=0)
    if name in ("special_bessel_j0", "special_i0e"):  # even
        kernels.check(f"aten::{name}.out", -at, eager=lambda x: exact, rtol=2e-14, atol=0)
    if name in ("special_bessel_j1", "special_i1e"):  # odd
        kernels.check(f"aten::{name}.out", -at, eager=lambda x: -exact, rtol=2e-14, atol=0)


# torch's own results are off by up to 2e-5 between -4 and -2.
AIRY = {
    -90.0: -0.17938293367430598,
    -10.0: 0.040241238486443191,
    -6.90625: 0.10711798932067911,
    -6.875: 0.079708919521905606,
    -3.25: -0.4190132668052308,
    -2.0: 0.22740742820168558,
    -0.5: 0.47572809161053959,
    0.0: 0.35502805388781724,
    0.75: 0.17933630547864523,
    1.25: 0.099644544756916671,
    7.0: 7.4921288639971671e-7,
    60.0: 2.7831487094969355e-136,
}


def test_airy(kernels: Kernels) -> None:
    at = torch.tensor(list(AIRY), dtype=torch.float64)
    exact = torch.tensor(list(AIRY.values()), dtype=torch.float64)
    kernels.check("aten::special_airy_ai.out", at, eager=lambda x: exact, rtol=2e-10, atol=0)
    kernels.check("aten::special_airy_ai.out", at.float(), eager=lambda x: exact.float(), atol=0, rtol=3e-6)


@pytest.mark.parametrize("dtype", WIDE)
def test_airy_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::special_airy_ai.out", random_tensor((9, 11), dtype, low=0, high=9), **close(dtype))
    if dtype.is_floating_point:
        special = torch.tensor([math.inf, -math.inf, math.nan], dtype=dtype)
        kernels.check("aten::special_airy_ai.out", special)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_polygamma(kernels: Kernels, n: int, dtype: torch.dtype) -> None:
    values = random_tensor((7, 5), dtype, low=1, high=9)
    result = dtype if dtype.is_floating_point else torch.float32
    expected = torch.ops.aten.polygamma(n, values.double()).to(result)
    kernels.check("aten::polygamma.out", n, values, eager=lambda n, x: expected, **close(result))


def test_the_derivative_of_digamma_has_poles(kernels: Kernels) -> None:
    values = torch.tensor([0.0, -1.0, -7.0])
    infinite = torch.full((3,), math.inf)
    kernels.check("aten::polygamma.out", 1, values, eager=lambda n, x: infinite)


@pytest.mark.parametrize("dtype", [*INTEGRAL, *FLOATING])
@pytest.mark.parametrize("p", [1, 3, 5])
def test_mvlgamma(kernels: Kernels, p: int, dtype: torch.dtype) -> None:
    values = random_tensor((7, 5), dtype, low=3, high=9)
    result = dtype if dtype.is_floating_point else torch.float32
    expected = torch.ops.aten.mvlgamma(values.double(), p).to(result)
    kernels.check("aten::mvlgamma.out", values, p, eager=lambda x, p: expected, **close(result))


def test_orders_that_are_refused(kernels: Kernels) -> None:
    values = torch.ones(3)
    assert "n" in kernels.refuse("aten::polygamma.out", -1, values, outs=[values.clone()]).log[0]
    assert "p" in kernels.refuse("aten::mvlgamma.out", values, 0, outs=[values.clone()]).log[0]
    mask = torch.ones(3, dtype=torch.bool)
    assert kernels.refuse("aten::mvlgamma.out", mask, 1, outs=[values.clone()]).error == "InvalidType"


def test_zeta_ends_where_its_terms_are_infinite(kernels: Kernels) -> None:
    """The sum is inf - inf, regardless of the terms that follow."""
    x, q = torch.full((2,), 2147483649.0).double(), torch.tensor([-0.5, 0.5]).double()
    kernels.check("aten::special_zeta.out", x, q)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_zeta_and_its_scalar_overloads(kernels: Kernels, dtype: torch.dtype) -> None:
    x = torch.tensor([0.5, 1.0, 1.5, 2.0, 7.0, 30.0, math.nan], dtype=dtype)
    q = torch.tensor([-3.5, -1.0, 0.0, 0.3, 1.0, 12.0, 400.0, math.nan], dtype=dtype).reshape(-1, 1)
    kernels.check("aten::special_zeta.out", x, q, **close(dtype))
    kernels.check("aten::special_zeta.self_scalar_out", 3.0, q, **close(dtype))
    kernels.check("aten::special_zeta.other_scalar_out", x, 2, **close(dtype))


def test_zeta_far_below_zero_ends(kernels: Kernels) -> None:
    x, q = torch.tensor([2.0]), torch.tensor([-1e30 - 0.5])
    kernels.run("aten::special_zeta.out", [x, q, torch.empty(1)])


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    a = random_tensor((9, 1), dtype, low=0.1, high=20)
    x = random_tensor((11,), dtype, low=0, high=20, seed=1)
    expected = getattr(torch.ops.aten, name)(a.double(), x.double()).to(dtype)
    kernels.check(f"aten::{name}.out", a, x, eager=lambda a, x: expected, **close(dtype))
    special = torch.tensor([v for v in SPECIAL if not v < 0 or name.startswith("log")], dtype=dtype)
    tolerance = {**close(dtype), "rtol": 2e-2} if dtype.itemsize == 2 else close(dtype)
    kernels.check(f"aten::{name}.out", special, special.reshape(-1, 1), **tolerance)


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers_refuse_integers(kernels: Kernels, name: str) -> None:
    whole = torch.ones(3, dtype=torch.int32)
    assert kernels.refuse(f"aten::{name}.out", whole, whole, outs=[torch.ones(3)]).error == "InvalidType"


@pytest.mark.parametrize("size", [0.1, 3.0, 50.0, 1e3, 9e5, 3e6])
@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_of_small_and_large(kernels: Kernels, name: str, size: float) -> None:
    x = size * torch.tensor([0.0, 0.1, 0.9, 0.999, 1.0, 1.001, 1.1, 5.0, 100.0], dtype=torch.float64)
    kernels.check(f"aten::{name}.out", torch.full_like(x, size), x, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("dtype", ALL)
def test_products_with_logarithms(kernels: Kernels, dtype: torch.dtype) -> None:
    x, y = random_tensor((9, 11), dtype, low=0), random_tensor((9, 11), dtype, low=0, seed=1)
    tolerance = close(dtype)
    kernels.check("aten::xlogy.OutTensor", x, y, **tolerance)
    kernels.check("aten::xlogy.OutScalar_Self", 2.5, y, **tolerance)
    kernels.check("aten::xlogy.OutScalar_Other", x, 3, **tolerance)
    kernels.check("aten::special_xlog1py.out", x, y, **tolerance)
    kernels.check("aten::special_xlog1py.self_scalar_out", 2.5, y, **tolerance)
    kernels.check("aten::special_xlog1py.other_scalar_out", x, 3, **tolerance)


def test_nothing_times_a_logarithm_is_nothing(kernels: Kernels) -> None:
    values = torch.tensor(SPECIAL)
    for name in ("xlogy.OutTensor", "special_xlog1py.out"):
        kernels.check(f"aten::{name}", values, values.reshape(-1, 1), **close(torch.float32))


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_every_degree(kernels: Kernels, name: str) -> None:
    x = torch.tensor([-3.0, -1.0, -0.7, 0.0, 0.25, 0.5, 1.0, 2.0], dtype=torch.float64)
    degree = torch.tensor([-1, 0, 1, 2, 3, 5.9, 9], dtype=torch.float64).reshape(-1, 1)
    kernels.check(f"aten::special_{name}.out", x, degree, rtol=1e-11, atol=1e-11)
    kernels.check(f"aten::special_{name}.x_scalar_out", 0.3, degree, rtol=1e-11, atol=1e-11)
    kernels.check(f"aten::special_{name}.n_scalar_out", x, 4, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    x, degree = random_tensor((5, 4), dtype, low=0, high=3), random_tensor((4,), dtype, low=0, high=6)
    kernels.check(f"aten::special_{name}.out", x, degree, rtol=5e-6, atol=1e-4)


@pytest.mark.parametrize("name", CHEBYSHEV)
def test_high_degrees_are_as_quick_as_low_ones(kernels: Kernels, name: str) -> None:
    x, degree = torch.tensor([0.3, -0.99 if name[0] == "c" else 0.99], dtype=torch.float64), 100_000
    kernels.check(f"aten::special_{name}.n_scalar_out", x, degree, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["hermite_polynomial_h", "laguerre_polynomial_l", "legendre_polynomial_p"])
def test_degrees_beyond_all_use_end(kernels: Kernels, name: str) -> None:
    x, out = torch.tensor([0.3]), torch.empty(1)
    kernels.run(f"aten::special_{name}.n_scalar_out", [x, 1e18, out])
    assert out.isnan().all()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 1, 3)])
def test_every_rank_and_empty_tensors(kernels: Kernels, shape: tuple[int, ...]) -> None:
    values = random_tensor(shape, torch.float32, low=0.1, high=4)
    kernels.check("aten::lgamma.out", values, **close(torch.float32))
    kernels.check("aten::xlogy.OutTensor", values, values, **close(torch.float32))
    kernels.check("aten::xlogy.OutScalar_Self", 2, values, **close(torch.float32))


def test_other_dim_orders_and_outputs(kernels: Kernels) -> None:
    values = random_tensor((2, 3, 4, 5), torch.float32).contiguous(memory_format=torch.channels_last)
    kernels.check("aten::erfc.out", values, out_dim_order=[0, 1, 2, 3], **close(torch.float32))
    kernels.check("aten::erfc.out", values, out_dim_order=[0, 2, 3, 1], **close(torch.float32))
    kernels.check("aten::erfc.out", values, out_dtype=torch.float64, rtol=1e-6, atol=1e-6)
    refused = kernels.refuse("aten::erfc.out", values, outs=[values.int()])
    assert refused.error == "InvalidType"
