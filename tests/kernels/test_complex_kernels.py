# SPDX-License-Identifier: BSD-3-Clause
"""Complex values in operators that are not elementwise: matrix-vector products, logsumexp, linspace,
indexing, norms of slices.
"""

from __future__ import annotations

import math
import warnings

import pytest
import torch

from support.harness import COMPLEX, Kernels, random_tensor, with_dim_order

WIDE = [torch.complex64, torch.complex128]
INF, NAN = math.inf, math.nan
COUNT = 20_000


def pairs(*values: complex) -> torch.Tensor:
    """Returns a vector."""
    return torch.tensor(values, dtype=torch.complex128)


@pytest.mark.parametrize("dtype", WIDE)
def test_products_with_complex_vectors(kernels: Kernels, dtype: torch.dtype) -> None:
    matrix = with_dim_order(random_tensor((4, 6), dtype), [1, 0])
    a, b, c = (random_tensor((size,), dtype, seed=size) for size in (6, 6, 4))
    batches = random_tensor((3, 4, 6), dtype), random_tensor((3, 6, 2), dtype, seed=1)
    near = {"rtol": 1e-5, "atol": 1e-4}
    kernels.check("aten::dot.out", a, b, **near)
    kernels.check("aten::vdot.out", a, b, **near)
    kernels.check("aten::mv.out", matrix, a, **near)
    kernels.check("aten::addmv.out", c, matrix, a, beta=2, alpha=-0.5, **near)
    kernels.check("aten::addmv.out", c * torch.nan, matrix, a, beta=0, **near)
    kernels.check("aten::addbmm.out", random_tensor((4, 2), dtype), *batches, beta=-1, alpha=2, **near)
    nothing = torch.zeros(0, dtype=dtype)
    kernels.check("aten::vdot.out", nothing, nothing)


def test_the_first_factor_alone_is_conjugated(kernels: Kernels) -> None:
    kernels.check("aten::vdot.out", pairs(1j, 2), pairs(3, 1j))
    assert torch.vdot(pairs(1j, 2), pairs(3, 1j)).item() == -1j


@pytest.mark.parametrize("dtype", WIDE)
def test_logarithms_of_complex_sums(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = (random_tensor((3, 4), dtype, seed=seed) for seed in range(2))
    kernels.check("aten::logaddexp.out", a, b[0].clone(), rtol=1e-5, atol=1e-5)
    kernels.check("aten::logcumsumexp.out", a, 0, rtol=1e-5, atol=1e-5)
    kernels.check("aten::logcumsumexp.out", with_dim_order(a, [1, 0]), -1, rtol=1e-5, atol=1e-5)
    kernels.check("aten::logcumsumexp.out", a[0, 0].clone(), 0)
    kernels.refuse("aten::logaddexp.out", a.to(torch.complex32), b.to(torch.complex32), outs=[a.clone()])


def test_logarithms_of_sums_with_infinities(kernels: Kernels) -> None:
    a = pairs(INF, -INF, complex(-INF, 1), complex(-INF, 1), 1 + 2j, complex(0, INF), complex(NAN, 0))
    b = pairs(INF, -INF, complex(-INF, 2), 1 - 1j, complex(1, 4), 1 + 1j, 1)
    kernels.check("aten::logaddexp.out", a, b)
    for vector in (a[1:3], a[2:5], b[:5]):
        kernels.check("aten::logcumsumexp.out", vector.clone(), 0)


@pytest.mark.parametrize("dtype", WIDE)
def test_complex_numbers_times_powers_of_two(kernels: Kernels, dtype: torch.dtype) -> None:
    z = random_tensor((3, 4), dtype)
    for exponent in (torch.tensor([-3, 0, 2, 7]), random_tensor((4,), torch.float32), z[0].clone()):
        kernels.check("aten::ldexp.out", z, exponent, rtol=1e-5, atol=1e-5)
    kernels.check("aten::ldexp.out", torch.tensor([1, 2]), z[0, :2].clone(), rtol=1e-5)


def test_complex32_is_no_power_of_two(kernels: Kernels) -> None:
    """PyTorch has no power of complex32; as an integer exponent NaN would be cast to int."""
    x, exponent = torch.ones(2), torch.tensor([complex(NAN, 0), 2], dtype=torch.complex32)
    with pytest.raises(RuntimeError):
        torch.ldexp(x, exponent)
    assert kernels.refuse("aten::ldexp.out", x, exponent, outs=[x.clone()]).error == "InvalidType"


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_lines_through_the_complex_plane(kernels: Kernels, steps: int, dtype: torch.dtype) -> None:
    start, end = torch.tensor(1 - 2j, dtype=dtype), torch.tensor(0.5 + 1.5j, dtype=dtype)
    for name, base in (("linspace", []), ("logspace", [3.0])):
        eager = getattr(torch, name)
        for ends, overload in (
            ((start, end), "Tensor_Tensor_out"),
            ((start, 2.5), "Tensor_Scalar_out"),
            ((-1, end), "Scalar_Tensor_out"),
            ((-1, 2.5), "out"),
        ):
            out = torch.empty(steps, dtype=dtype)
            kernels.run(f"aten::{name}.{overload}", [*ends, steps, *base, out], dynamic=[out])
            torch.testing.assert_close(out, eager(*ends, steps, *base, dtype=dtype), rtol=1e-5, atol=1e-6)


def test_no_real_line_goes_to_a_complex_number(kernels: Kernels) -> None:
    ends = [torch.tensor(1 - 2j), torch.tensor(3.0)]
    refusal = kernels.refuse("aten::linspace.Tensor_Tensor_out", *ends, 3, outs=[torch.empty(3)])
    assert refusal.error == "InvalidType"
    assert "start" in refusal.log[-1]


@pytest.mark.parametrize("dtype", WIDE)
def test_complex_numbers_are_combined_where_indices_say(kernels: Kernels, dtype: torch.dtype) -> None:
    z, w = random_tensor((5, 3), dtype), random_tensor((4, 3), dtype, seed=1)
    index = torch.tensor([[4, 0, 4], [2, 1, 4], [4, 0, 0], [3, 3, 3]])
    for how in ("add", "multiply"):
        kernels.check("aten::scatter.reduce_out", z, 0, index, w, reduce=how)
        kernels.check("aten::scatter.value_reduce_out", z, 0, index, 2.5, reduce=how)
    kernels.check("aten::put.out", z, index, w, True)
    kernels.check("aten::put.out", z, index[:1].clone(), w[:1].clone())


@pytest.mark.parametrize("dtype", WIDE)
def test_norms_of_complex_slices_and_differences(kernels: Kernels, dtype: torch.dtype) -> None:
    z, w = random_tensor((3, 4), dtype), random_tensor((4,), dtype, seed=1)
    for p in (0.5, 1, 2, 3, INF):
        kernels.check("aten::dist.out", z, w, p, rtol=1e-5)
        kernels.check("aten::renorm.out", z, p, -1, 4.0, rtol=1e-5, atol=1e-5)
    kernels.check("aten::dist.out", z, w.real.clone(), 2, rtol=1e-5)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_positions_of_complex_numbers_that_are_not_zero(kernels: Kernels, dtype: torch.dtype) -> None:
    z = torch.tensor([[0, 1j, -0.0], [2, complex(-0.0, -0.0), complex(NAN, 0)]]).to(dtype)
    kernels.check("aten::nonzero_static.out", z, size=5, fill_value=-1)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_both_parts_of_complex_numbers_are_random(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.set_seed(7)
    blank = torch.zeros(COUNT, dtype=dtype)
    normal = ["aten::randn.out", [[COUNT]]], ["aten::normal.out", [blank, 1.0, 2.0, None]]
    for (name, arguments), mean, deviation in zip(normal, (0, 1), (1, 2), strict=True):
        out = torch.empty_like(blank)
        kernels.run(name, [*arguments, out], dynamic=[out])
        for part in (out.real.double(), out.imag.double()):
            assert abs(part.mean() - mean) < 0.04 * deviation
            assert abs(part.std() - deviation / math.sqrt(2)) < 0.03 * deviation
        correlation = torch.corrcoef(torch.stack([out.real.double(), out.imag.double()]))[0, 1]
        assert abs(correlation) < 0.03
    out = torch.empty_like(blank)
    kernels.run("aten::rand.out", [[COUNT], out])
    for part in (out.real, out.imag):
        assert 0 <= part.min() < 0.01
        assert 0.99 < part.max() <= 1


@pytest.mark.parametrize("order", [2, 1, 0, 3, INF, -INF])
def test_norms_of_small_complex_numbers(kernels: Kernels, order: float) -> None:
    z = random_tensor((3, 4), torch.complex32)
    expected = torch.linalg.vector_norm(z.to(torch.complex64), order, [1]).half()
    out = torch.empty(3, dtype=torch.float16)
    kernels.run("aten::linalg_vector_norm.out", [z, order, [1], False, None, out])
    torch.testing.assert_close(out, expected)


SHAPES = [(2, 3, 4), (1, 700, 1), (9, 600, 5), (33, 2, 1), (7, 5, 140), (3, 0, 2), (0, 3, 2), (20, 64, 256)]


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
def test_products_of_complex_matrices(kernels: Kernels, m: int, k: int, n: int, dtype: torch.dtype) -> None:
    a, b = random_tensor((m, k), dtype, seed=1), random_tensor((k, n), dtype, seed=2)
    tolerance = {"rtol": 1e-4, "atol": 2e-3} if dtype == torch.complex64 else {"rtol": 1e-10, "atol": 1e-10}
    flipped = [with_dim_order(value, (1, 0)) for value in (a, b)]
    for left in (a, flipped[0]):
        for right in (b, flipped[1]):
            kernels.check("aten::mm.out", left, right, **tolerance)
    out = with_dim_order(torch.zeros((m, n), dtype=dtype), (1, 0))
    kernels.run("aten::mm.out", [a, b, out])
    torch.testing.assert_close(out, a @ b, **tolerance)
    for bias in (
        random_tensor((m, n), dtype, seed=3),
        random_tensor((n,), dtype, seed=4),
        torch.ones((), dtype=dtype),
    ):
        for beta, alpha in ((1, 1), (0.5, -2), (0, 3), (2, 0)):
            kernels.check("aten::addmm.out", bias, a, b, beta=beta, alpha=alpha, **tolerance)
    kernels.run("aten::addmm.out", [torch.ones((), dtype=dtype), a, b, 1, 1, out])
    torch.testing.assert_close(out, a @ b + 1, **tolerance)


@pytest.mark.parametrize("dtype", WIDE)
def test_batches_of_complex_products(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((3, 4, 600), dtype, seed=1), random_tensor((3, 600, 5), dtype, seed=2)
    tolerance = {"rtol": 1e-4, "atol": 5e-3} if dtype == torch.complex64 else {"rtol": 1e-10, "atol": 1e-10}
    kernels.check("aten::bmm.out", a, b, **tolerance)
    kernels.check("aten::bmm.out", with_dim_order(a, (0, 2, 1)), with_dim_order(b, (2, 0, 1)), **tolerance)
    for shape in ((3, 4, 5), (1, 4, 1), (5,), ()):
        bias = random_tensor(shape, dtype, seed=3)
        kernels.check("aten::baddbmm.out", bias, a, b, beta=0.5, alpha=2, **tolerance)
        if len(shape) < 3:
            kernels.check("aten::addbmm.out", bias, a, b, beta=0.5, alpha=2, **tolerance)
    kernels.check("aten::baddbmm.out", torch.ones((0, 4, 5), dtype=dtype), a[:0], b[:0])


@pytest.mark.parametrize("dtype", WIDE)
def test_long_dot_products_of_complex_vectors(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((1300,), dtype, seed=1), random_tensor((1300,), dtype, seed=2)
    tolerance = {"rtol": 1e-4, "atol": 1e-2} if dtype == torch.complex64 else {"rtol": 1e-10, "atol": 1e-10}
    kernels.check("aten::dot.out", a, b, **tolerance)
    kernels.check("aten::vdot.out", a, b, **tolerance)
    matrix = random_tensor((9, 1300), dtype, seed=3)
    kernels.check("aten::mv.out", matrix, b, **tolerance)
    kernels.check("aten::mv.out", with_dim_order(matrix, (1, 0)), b, **tolerance)


@pytest.mark.parametrize("dtype", WIDE)
def test_parts_of_long_complex_tensors(kernels: Kernels, dtype: torch.dtype) -> None:
    """Sums see the parts of adjacent elements as twice as many real ones, beside a repeated element."""
    a, b = random_tensor((7, 77), dtype, seed=1), random_tensor((7, 77), dtype, seed=2)
    for other in (b, b[0, 0].clone(), b[0].clone(), torch.tensor(3), torch.tensor(0.5, dtype=torch.float64)):
        for name in ("add", "sub"):
            kernels.check(f"aten::{name}.out", a, other, alpha=2)
            kernels.check(f"aten::{name}.out", with_dim_order(a, (1, 0)), other)
    kernels.check("aten::neg.out", a)
    kernels.check("aten::add.out", a[0, 0].clone(), b)
    mixed = b.to(torch.complex64 if dtype == torch.complex128 else torch.complex128)
    kernels.check("aten::add.out", a, mixed)


@pytest.mark.parametrize(
    "target", [torch.bool, torch.float32, torch.int64, torch.complex64, torch.complex128]
)
@pytest.mark.parametrize("source", [*WIDE, torch.float64, torch.uint8])
def test_conversions_of_long_complex_tensors(
    kernels: Kernels, source: torch.dtype, target: torch.dtype
) -> None:
    values = random_tensor((5, 3, 61), source)
    values[0, :, ::3] = 0
    values[1, 0, 1::3] = 0
    for given in (values, with_dim_order(values, (2, 0, 1))):
        out = torch.empty_like(given, dtype=target)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns that imaginary parts are lost
            expected = given.to(target)
        kernels.run("aten::_to_copy.out", [given, False, None, out])
        torch.testing.assert_close(out, expected, rtol=0, atol=0)
