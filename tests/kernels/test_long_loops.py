# SPDX-License-Identifier: BSD-3-Clause
"""Sizes at which builds for speed take their vectorized loops: whole blocks, tiles and a rest."""

from __future__ import annotations

import pytest
import torch

from support.harness import COMPLEX, FLOATING, INTEGRAL, Kernels, random_tensor, with_dim_order

DTYPES = [*INTEGRAL, *FLOATING]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_are_summed_in_tiles(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((3, 150, 301), dtype, low=0, high=2)
    kernels.check("aten::sum.IntList_out", values, [1], rtol=2e-3 if dtype.itemsize == 2 else 1e-5)
    kernels.check("aten::sum.IntList_out", values, [0, 1], rtol=2e-3 if dtype.itemsize == 2 else 1e-5)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_fibers_are_sorted_stably(kernels: Kernels, dtype: torch.dtype, descending: bool) -> None:
    values = random_tensor((5, 700), dtype, low=-90, high=90)
    if dtype.is_floating_point:
        values[:, ::50] = float("nan")
        values[:, 1::60] = float("-inf")
    kernels.check("aten::sort.values_stable", values, stable=True, dim=1, descending=descending)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_first_nan_or_extremum_of_a_long_span_wins(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 1000), dtype, low=-90, high=90)
    kernels.check("aten::max.dim_max", values, 1)
    if dtype.is_floating_point:
        values[1, 700] = values[1, 300] = float("nan")
        values[2, 10], values[2, 20] = float("inf"), float("-inf")
    kernels.check("aten::argmin.out", values, 1)
    kernels.check("aten::argmax.out", values, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_slices_are_added_at_repeated_indices(kernels: Kernels, dtype: torch.dtype) -> None:
    target = random_tensor((7, 9, 33), dtype, low=1)
    source = random_tensor((7, 20, 33), dtype, low=1, seed=1)
    index = torch.arange(20) % 4
    # PyTorch rounds 16-bit sums after each addition.
    kernels.check("aten::index_add.out", target, 1, index, source, rtol=2e-2 if dtype.itemsize == 2 else None)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_tests_are_searched(kernels: Kernels, dtype: torch.dtype) -> None:
    elements, tests = random_tensor((50, 6), dtype, high=100), random_tensor((70,), dtype, high=100, seed=1)
    if dtype.is_floating_point:
        elements[0, 0] = tests[0] = float("nan")
        elements[1, 1], tests[1] = -0.0, 0.0
    kernels.check("aten::isin.Tensor_Tensor_out", elements, tests)


def _kth_value(self: torch.Tensor, k: int, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """kthvalue with the index of a stable sort; PyTorch's may be that of another one of equal elements."""
    values, indices = torch.sort(self, dim=dim, stable=True)
    return values.select(dim, k - 1), indices.select(dim, k - 1)


def _mode(self: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """mode along the last dimension with the last index; PyTorch's may be another one of long fibers."""
    values, _ = torch.mode(self, dim)
    positions = torch.where(self == values.unsqueeze(dim), torch.arange(self.size(dim)), -1)
    return values, positions.amax(dim)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_of_a_rank_are_selected_in_long_fibers(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((5, 700), dtype, low=-90, high=90)
    wide = with_dim_order(values, (1, 0))
    for tensor in (values, wide):
        kernels.check("aten::kthvalue.values", tensor, 300, 1, eager=_kth_value)
        # PyTorch's median may return the index of another one of equal elements.
        kernels.check("aten::median.dim_values", torch.unique(tensor).reshape(1, -1), 1)
        kernels.check("aten::median.out", tensor)
        kernels.check("aten::mode.values", tensor, 1, eager=_mode)
    if dtype.is_floating_point:
        values[1, 600:] = float("nan")
        values[2, 3] = float("nan")
        values[3] = float("nan")
        kernels.check("aten::kthvalue.values", values, 650, 1, eager=_kth_value)
        kernels.check("aten::median.dim_values", values[2:3], 1)
        kernels.check("aten::nanmedian.out", values)
        kernels.check("aten::median.out", values)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool], ids=str)
def test_extrema_so_far_of_long_fibers_keep_the_last_index(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((3, 500), dtype, low=-90, high=90)
    if dtype.is_floating_point:
        values[1, 130:400:90] = float("nan")
        values[2, ::2], values[2, 1::2] = -0.0, 0.0
    for dim in (0, 1):
        kernels.check("aten::cummax.out", values, dim)
        kernels.check("aten::cummin.out", values, dim)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool, *COMPLEX[1:]], ids=str)
def test_many_elements_are_found_and_moved(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((6, 5, 43), dtype, low=-2, high=3)
    values[:, ::2, ::3] = 0
    if dtype.is_floating_point:
        values[1, 2], values[3, 3, 40] = -0.0, float("nan")
    index = torch.randint(-values.numel(), values.numel(), (70,), generator=torch.Generator().manual_seed(1))
    for tensor in (values, with_dim_order(values, (0, 2, 1))):
        kernels.check("aten::nonzero.out", tensor)
        kernels.check("aten::nonzero.out", tensor[0].contiguous())
        kernels.check("aten::take.out", tensor, index)
        kernels.check("aten::masked_select.out", tensor, random_tensor((6, 5, 43), torch.bool))
        for dim in (0, 1, 2, -1):
            kernels.check("aten::index_fill.int_Scalar_out", tensor, dim, torch.tensor([1, -2, 0]), 1)
    kernels.check("aten::nonzero.out", values[0, 0, 0].clone())
    few = random_tensor((40, 3), dtype)
    kernels.check("aten::index_fill.int_Scalar_out", few, 0, torch.tensor([39, -40, 7]), 1)
    kernels.check("aten::index_fill.int_Scalar_out", few[0, 0].clone(), 0, torch.tensor([0, -1]), 1)
    assert kernels.refuse(
        "aten::index_fill.int_Scalar_out", few, 0, torch.tensor([40]), 1, outs=[torch.empty_like(few)]
    )
    kernels.check("aten::resize.out", values, [1200])
    kernels.check("aten::resize.out", values, [7, 11])


FUNCTIONS = ["acos", "atan", "cosh", "erf", "exp", "log1p", "reciprocal", "rsqrt", "sigmoid", "sin", "tanh"]


@pytest.mark.parametrize("dtype", [*INTEGRAL, torch.bool], ids=str)
def test_functions_of_many_integers_compute_in_float32(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((7, 300), dtype, low=-6, high=7)
    for name in FUNCTIONS:
        kernels.check(f"aten::{name}.out", values, out_dtype=torch.float32)
        kernels.check(f"aten::{name}.out", with_dim_order(values, (1, 0)), out_dtype=torch.float32)


@pytest.mark.parametrize("source", [*DTYPES, torch.bool], ids=str)
@pytest.mark.parametrize("target", [*DTYPES, torch.bool], ids=str)
def test_long_spans_are_converted(kernels: Kernels, source: torch.dtype, target: torch.dtype) -> None:
    values = random_tensor((3, 301), source, low=-9, high=99)
    if not target.is_signed and source.is_signed:
        values = values.abs()
    kernels.check("aten::_to_copy.out", values, dtype=target, out_dtype=target)


@pytest.mark.parametrize("dtype", [*INTEGRAL, torch.bool], ids=str)
def test_many_narrow_integers_wrap_and_compare(kernels: Kernels, dtype: torch.dtype) -> None:
    a = random_tensor((5, 70), dtype, low=-128, high=128)
    b = random_tensor((5, 70), dtype, low=-128, high=128, seed=1)
    for name in ("maximum.out", "minimum.out", "mul.out", "bitwise_and.Tensor_out", "fmax.out"):
        for other in (b, b[:1].contiguous(), b[2, 3].clone()):
            kernels.check(f"aten::{name}", a, other)
            kernels.check(f"aten::{name}", other, a)
    for name in ("sign", "bitwise_not", *(["neg", "abs", "trunc"] if dtype != torch.bool else [])):
        kernels.check(f"aten::{name}.out", a)
    kernels.check("aten::lt.Tensor_out", a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
def test_matrices_larger_than_a_block_are_factored(kernels: Kernels, dtype: torch.dtype) -> None:
    n = 150
    a = random_tensor((n, n), dtype, low=-1, high=1) / n + 2 * torch.eye(n, dtype=dtype)
    b = random_tensor((n, 41), dtype, low=-1, high=1, seed=1)
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype != torch.float64 else {"rtol": 1e-9, "atol": 1e-9}
    hermitian = a + a.mH
    kernels.check("aten::linalg_lu.out", a, **tolerance)
    kernels.check("aten::linalg_inv_ex.inverse", a, **tolerance)
    kernels.check("aten::linalg_qr.out", a[:, :60].contiguous(), **tolerance)
    kernels.check("aten::linalg_solve_triangular.out", a.triu(), b, upper=True, **tolerance)
    kernels.check(
        "aten::linalg_solve_triangular.out", a.tril(), b.mT.contiguous(), upper=False, left=False, **tolerance
    )
    kernels.check("aten::linalg_cholesky_ex.L", hermitian, **tolerance)
    kernels.check("aten::cholesky_solve.out", b, torch.linalg.cholesky(hermitian), **tolerance)
    kernels.check("aten::linalg_ldl_factor_ex.out", hermitian, hermitian=True, **tolerance)
    factors, pivots = torch.linalg.ldl_factor(hermitian, hermitian=True)
    kernels.check("aten::linalg_ldl_solve.out", factors, pivots, b, hermitian=True, **tolerance)
    kernels.check("aten::linalg_matrix_exp.out", a[:40, :40].contiguous(), **tolerance)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_rounding_and_remainders_at_their_limits(kernels: Kernels, dtype: torch.dtype) -> None:
    inf, nan = float("inf"), float("nan")
    some = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        -7.25,
        1e4,
        8388607.5,
        3e9,
        -4e12,
        0.375,
        inf,
        -inf,
        nan,
    ]
    values = torch.tensor(some, dtype=torch.float64).to(dtype)
    kernels.check("aten::frac.out", values)
    for decimals in (0, 1, -1):
        kernels.check("aten::round.decimals_out", values, decimals=decimals)
    a, b = values.reshape(-1, 1), values.reshape(1, -1)
    kernels.check("aten::hypot.out", a, b)
    kernels.check("aten::fmod.Tensor_out", a, b)
    kernels.check("aten::remainder.Tensor_out", a, b)
    kernels.check("aten::floor_divide.out", a, b)
    for mode in ("trunc", "floor"):
        kernels.check("aten::div.out_mode", a, b, rounding_mode=mode)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_gradients_of_long_softmax_fibers(kernels: Kernels, dtype: torch.dtype) -> None:
    gradient, values = random_tensor((3, 300), dtype), random_tensor((3, 300), dtype, seed=1)
    for dim in (0, 1):
        kernels.check("aten::_softmax_backward_data.out", gradient, values.softmax(dim), dim, dtype)
        kernels.check("aten::_log_softmax_backward_data.out", gradient, values.log_softmax(dim), dim, dtype)


@pytest.mark.parametrize("p", [0, 1, 2, 3, float("inf")])
@pytest.mark.parametrize("dtype", [*FLOATING, torch.complex64], ids=str)
def test_norms_of_long_spans(kernels: Kernels, dtype: torch.dtype, p: float) -> None:
    values = random_tensor((5, 333), dtype, low=-1, high=1)
    values[:, ::7] = 0
    for dims in ([0], [1], [0, 1]):
        kernels.check("aten::norm.out", values, p, dims)


@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_products_of_integers_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    a = random_tensor((2, 5, 140), dtype, low=-128, high=128)
    b = random_tensor((2, 140, 37), dtype, low=-128, high=128, seed=1)
    kernels.check("aten::bmm.out", a, b)
    kernels.check("aten::mm.out", a[0], with_dim_order(b[0], (1, 0)))
    kernels.check("aten::addmm.out", b[0, :5].contiguous(), a[1], b[1], beta=3, alpha=-2)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool, torch.complex64], ids=str)
def test_one_number_fills_long_tensors(kernels: Kernels, dtype: torch.dtype) -> None:
    for size in (63, 64, 65, 9001):  # by element, and by pieces of what is written
        kernels.check("aten::fill.Scalar_out", random_tensor((size,), dtype), 1)
    kernels.check("aten::expand_copy.out", random_tensor((3, 1), dtype), [3, 5000])


@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_constants_beyond_the_dtype_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b, c = (random_tensor((777,), dtype, low=-128, high=128, seed=seed) for seed in range(3))
    for factor in (3, 100):
        kernels.check("aten::add.out", a, b, alpha=factor)
        kernels.check("aten::sub.out", a, b[0].clone(), alpha=factor)
        kernels.check("aten::addcmul.out", a, b, c, value=factor)
    kernels.check("aten::bitwise_not.out", a)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_logarithms_of_sums_of_exponentials(kernels: Kernels, dtype: torch.dtype) -> None:
    inf, nan = float("inf"), float("nan")
    some = [0, 1, -1, 0.5, 20, -20, 88, 89, 130, -103, -104, -150, 3e4, -3e4, inf, -inf, nan]
    values = torch.tensor([*some, *range(-9, 9)], dtype=torch.float64).to(dtype)
    for name in ("logaddexp", "logaddexp2"):
        kernels.check(f"aten::{name}.out", values.reshape(-1, 1), values.reshape(1, -1))
        kernels.check(f"aten::{name}.out", values, values[1].clone())
    kernels.check("aten::log_sigmoid_forward.output", values)
    kernels.check("aten::log_sigmoid.out", values)
    kernels.check("aten::exp2.out", values)
    kernels.check("aten::celu.out", values[values.abs() < 80], -0.75)


@pytest.mark.parametrize("name", ["chebyshev_polynomial_t", "hermite_polynomial_he", "laguerre_polynomial_l"])
def test_degrees_of_polynomials_are_truncated(kernels: Kernels, name: str) -> None:
    degrees = torch.tensor([-2, -1, -0.9, -0.0, 0.5, 1, 1.9, 2, 63.5, 64, 64.9, 65, float("nan")])
    degrees = degrees.double()
    x = torch.tensor([[0.3], [-1.0], [1.0], [-0.99]], dtype=torch.float64)
    kernels.check(f"aten::special_{name}.out", x, degrees[:-1].clone(), rtol=1e-9, atol=1e-9)
    out = torch.zeros(4, 1, dtype=torch.float64)
    kernels.run(f"aten::special_{name}.out", [x, degrees[-1:].clone(), out])
    assert out.isnan().all()


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_strided_distances_and_slices(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 131), dtype), random_tensor((131,), dtype, seed=1)
    rough = {"rtol": 1e-2, "atol": 1e-2} if dtype.itemsize == 2 else {"rtol": 1e-5, "atol": 1e-5}
    for p in (0, 1, 2, 3.5, float("inf")):
        kernels.check("aten::dist.out", with_dim_order(a, (1, 0)), b, p, **rough)
    for p in (1, 2, 3.5, float("inf")):
        for dim in (0, 1):
            kernels.check("aten::renorm.out", with_dim_order(a, (1, 0)), p, dim, 2.0, **rough)
