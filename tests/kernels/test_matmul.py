# SPDX-License-Identifier: BSD-3-Clause
"""mm, bmm, addmm, baddbmm and linear against torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import (
    FLOATING,
    INTEGRAL,
    REAL,
    UNSIGNED_WIDE,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

# Sums of a few products of values below 5, which may cancel.
ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-12, torch.float16: 5e-2, torch.bfloat16: 4e-1}


def check(kernels: Kernels, name: str, *args: object, **kwargs: object) -> None:
    """Compares with torch; for floating results within the errors that cancellation leaves."""
    dtype = next(arg.dtype for arg in args if isinstance(arg, torch.Tensor))
    kernels.check(name, *args, atol=ROUNDING.get(dtype, 0.0), **kwargs)


def tensor(shape: Sequence[int], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Small random values."""
    return random_tensor(shape, dtype, seed=seed)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("m", "k", "n"), [(3, 5, 4), (1, 300, 1), (2, 131, 37), (1, 1, 70), (5, 4, 1)])
def test_products_of_matrices(kernels: Kernels, m: int, k: int, n: int, dtype: torch.dtype) -> None:
    a, b = tensor((m, k), dtype, 1), tensor((k, n), dtype, 2)
    check(kernels, "aten::mm.out", a, b)
    check(
        kernels, "aten::addmm.out", tensor((n,), dtype, 3), a, b, beta=2, alpha=-3 if dtype.is_signed else 3
    )
    check(kernels, "aten::linear.out", a, b.T.contiguous(), tensor((n,), dtype, 3))
    check(kernels, "aten::linear.out", a, b.T.contiguous())


@pytest.mark.parametrize("dtype", REAL)
def test_products_of_batches(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = tensor((3, 4, 6), dtype, 1), tensor((3, 6, 5), dtype, 2)
    check(kernels, "aten::bmm.out", a, b)
    for shape in [(5,), (1, 4, 1), (3, 4, 5), (4, 5), ()]:
        check(kernels, "aten::baddbmm.out", tensor(shape, dtype, 3), a, b, beta=2, alpha=3)


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(0, 5), k=st.integers(0, 9), n=st.integers(0, 40), orders=st.lists(st.booleans(), min_size=3)
)
def test_any_shape_and_layout(kernels: Kernels, m: int, k: int, n: int, orders: list[bool]) -> None:
    def laid_out(x: torch.Tensor, swapped: bool) -> torch.Tensor:
        return with_dim_order(x, [1, 0] if swapped else [0, 1])

    a, b = (
        laid_out(tensor((m, k), torch.float32, 1), orders[0]),
        laid_out(tensor((k, n), torch.float32), orders[1]),
    )
    check(kernels, "aten::mm.out", a, b, out_dim_order=[1, 0] if orders[2] else [0, 1])
    check(kernels, "aten::addmm.out", tensor((m, 1), torch.float32), a, b, out_dim_order=[1, 0])
    check(kernels, "aten::linear.out", a, laid_out(b.T.clone(), orders[2]), tensor((n,), torch.float32))


@pytest.mark.parametrize("dtype", [torch.int32, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("shape", [(7,), (2, 7), (2, 3, 7), (2, 0, 7), (2, 3, 4, 7)])
def test_linear_keeps_leading_dimensions(
    kernels: Kernels, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    x, weight = tensor(shape, dtype, 1), tensor((4, 7), dtype, 2)
    check(kernels, "aten::linear.out", x, weight, tensor((4,), dtype, 3))
    check(kernels, "aten::linear.out", x, weight, tensor((1,), dtype, 3))
    check(kernels, "aten::linear.out", x, weight[0].clone(), None)


def test_linear_of_other_layouts(kernels: Kernels) -> None:
    weight, bias = tensor((3, 5), torch.float32, 2), tensor((3,), torch.float32, 3)
    for order in [(0, 2, 3, 1), (3, 2, 1, 0)]:
        x = with_dim_order(tensor((2, 3, 4, 5), torch.float32, 1), order)
        check(kernels, "aten::linear.out", x, weight, bias, out_dim_order=order)
        check(kernels, "aten::linear.out", x, weight, bias)


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_integers_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    a = torch.tensor([[info.max, info.min, 3], [info.max, info.max, info.max]], dtype=dtype)
    for name in ["aten::mm.out"]:
        kernels.check(name, a, a.T.contiguous())


def test_zero_beta_ignores_the_summand(kernels: Kernels) -> None:
    nan = torch.full((4,), math.nan)
    a, b = tensor((3, 5), torch.float32, 1), tensor((5, 4), torch.float32, 2)
    check(kernels, "aten::addmm.out", nan, a, b, beta=0)
    check(kernels, "aten::baddbmm.out", nan, a[None], b[None], beta=0.0)
    check(kernels, "aten::addmm.out", nan, a, b)


def test_no_products_leave_the_summand(kernels: Kernels) -> None:
    x = tensor((3, 4), torch.float32, 3)
    check(kernels, "aten::addmm.out", x, torch.empty(3, 0), torch.empty(0, 4), beta=2)
    check(kernels, "aten::bmm.out", torch.empty(2, 3, 0), torch.empty(2, 0, 4))
    check(kernels, "aten::linear.out", torch.empty(3, 0), torch.empty(4, 0), x[0].clone())


def test_nan_and_infinity_spread(kernels: Kernels) -> None:
    a = torch.tensor([[math.inf, 0.0], [math.nan, 1.0], [1.0, 2.0]])
    b = torch.tensor([[0.0, 1.0, -math.inf], [1.0, 2.0, 3.0]])
    kernels.check("aten::mm.out", a, b)


@pytest.mark.parametrize("dtype", FLOATING)
def test_long_sums_are_as_good_as_those_of_torch(kernels: Kernels, dtype: torch.dtype) -> None:
    depth = 20000
    a, b = (
        random_tensor((2, depth), dtype, low=0, high=1, seed=1),
        random_tensor((depth, 3), dtype, low=0, high=1),
    )
    exact = a.double() @ b.double()
    bias = random_tensor((3,), dtype, seed=3)
    for name, arguments, reference in [
        ("aten::mm.out", [a, b], exact),
        ("aten::linear.out", [a, b.T.contiguous(), bias], exact + bias.double()),
        ("aten::addmm.out", [bias, a, b, 1, 1], exact + bias.double()),
    ]:
        out = poison(torch.empty(2, 3, dtype=dtype))
        kernels.run(name, [*arguments, out])
        # One rounding of the result, or a few for float32 and float64.
        rtol = {torch.float32: 2e-6, torch.float64: 1e-14}.get(dtype, torch.finfo(dtype).eps)
        assert_equal(
            out.double(), reference.to(dtype).double() if dtype.itemsize == 2 else reference, rtol=rtol
        )


F = torch.empty


@pytest.mark.parametrize(
    ("name", "args", "out"),
    [
        ("aten::mm.out", [F(2, 3), F(2, 3)], F(2, 3)),
        ("aten::mm.out", [F(2, 3), F(3)], F(2)),
        ("aten::mm.out", [F(2, 3, 1), F(3, 2, 1)], F(2, 2)),
        ("aten::mm.out", [F(2, 3), F(3, 2).double()], F(2, 2)),
        ("aten::mm.out", [F(2, 3), F(3, 2)], F(2, 2).double()),
        ("aten::mm.out", [F(2, 3), F(3, 2)], F(2, 3)),
        ("aten::mm.out", [F(2, 3), F(3, 2)], F(2, 2, 1)),
        ("aten::mm.out", [F(2, 3).bool(), F(3, 2).bool()], F(2, 2).bool()),
        ("aten::bmm.out", [F(2, 3, 4), F(1, 4, 5)], F(2, 3, 5)),
        ("aten::bmm.out", [F(2, 3, 4), F(2, 3, 5)], F(2, 3, 5)),
        ("aten::bmm.out", [F(2, 3), F(3, 2)], F(2, 2)),
        ("aten::addmm.out", [F(3), F(2, 3), F(3, 2), 1, 1], F(2, 2)),
        ("aten::addmm.out", [F(1, 1, 2), F(2, 3), F(3, 2), 1, 1], F(2, 2)),
        ("aten::addmm.out", [F(2).double(), F(2, 3), F(3, 2), 1, 1], F(2, 2)),
        ("aten::baddbmm.out", [F(1, 1, 1, 1), F(2, 3, 4), F(2, 4, 5), 1, 1], F(2, 3, 5)),
        ("aten::linear.out", [F(2, 3), F(2, 4), None], F(2, 2)),
        ("aten::linear.out", [F(()), F(2, 1), None], F(2)),
        ("aten::linear.out", [F(2, 3), F(()), None], F(2)),
        ("aten::linear.out", [F(2, 3), F(4, 3), F(3)], F(2, 4)),
        ("aten::linear.out", [F(2, 3), F(4, 3), F(4).double()], F(2, 4)),
        ("aten::linear.out", [F(2, 3), F(3), F(1)], F(2)),
        ("aten::linear.out", [F(2, 3), F(4, 3), None], F(2, 3)),
    ],
)
def test_bad_arguments_are_refused(
    kernels: Kernels, name: str, args: list[object], out: torch.Tensor
) -> None:
    assert kernels.refuse(name, *args[:3], outs=[out]).error in {"InvalidArgument", "InvalidType"}


@pytest.mark.parametrize("dtype", [torch.bool, *UNSIGNED_WIDE])
def test_types_that_torch_does_not_multiply_are_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    x = torch.zeros((2, 2), dtype=dtype)
    assert kernels.refuse("aten::mm.out", x, x, outs=[x.clone()]).error == "InvalidType"


@pytest.mark.parametrize("dtype", REAL)
def test_products_with_vectors(kernels: Kernels, dtype: torch.dtype) -> None:
    for rows, depth in [(3, 5), (1, 140), (0, 3), (3, 0), (4, 1)]:
        a, x = tensor((rows, depth), dtype, 1), tensor((depth,), dtype, 2)
        check(kernels, "aten::mv.out", a, x)
        # PyTorch does not expand to a product without elements.
        for shape in [(rows,), (1,), ()] if rows * depth else [(rows,)]:
            check(kernels, "aten::addmv.out", tensor(shape, dtype, 3), a, x, beta=2, alpha=3)
        check(kernels, "aten::dot.out", x, tensor((depth,), dtype, 4))
        check(kernels, "aten::vdot.out", x, tensor((depth,), dtype, 4))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.float64])
@pytest.mark.parametrize("batch", [0, 1, 3])
def test_sums_of_products(kernels: Kernels, batch: int, dtype: torch.dtype) -> None:
    a, b = tensor((batch, 4, 6), dtype, 1), tensor((batch, 6, 5), dtype, 2)
    for shape in [(5,), (4, 1), (4, 5), ()]:
        check(kernels, "aten::addbmm.out", tensor(shape, dtype, 3), a, b, beta=2, alpha=3)


def test_beta_zero_ignores_what_is_added(kernels: Kernels) -> None:
    nan = torch.full((4,), float("nan"))
    a, x = tensor((4, 3), torch.float32), tensor((3,), torch.float32)
    check(kernels, "aten::addmv.out", nan, a, x, beta=0)
    check(kernels, "aten::addbmm.out", nan, a.expand(2, 4, 3).contiguous(), torch.ones(2, 3, 4), beta=0)


def test_vectors_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    a, x, out = torch.ones(4, 3), torch.ones(3), torch.ones(4)
    kernels.refuse("aten::mv.out", a, torch.ones(4), outs=[out])
    kernels.refuse("aten::mv.out", a, x.double(), outs=[out])
    kernels.refuse("aten::mv.out", x, x, outs=[out])
    kernels.refuse("aten::addmv.out", torch.ones(3), a, x, outs=[out])
    kernels.refuse("aten::addmv.out", torch.ones(4, 1), a, x, outs=[out])
    kernels.refuse("aten::dot.out", x, torch.ones(4), outs=[torch.ones(())])
    kernels.refuse("aten::dot.out", a, a, outs=[torch.ones(())])
    kernels.refuse("aten::addbmm.out", a, torch.ones(2, 4, 3), torch.ones(3, 3, 3), outs=[torch.ones(4, 3)])


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("depth", [3, 600])
def test_sums_of_batches_add_to_the_sum_before(kernels: Kernels, depth: int, dtype: torch.dtype) -> None:
    """The sum is the bias of the next product. Above 512 the depth is computed in blocks."""
    a, b = tensor((4, 7, depth), dtype, 1) / 8, tensor((4, depth, 9), dtype, 2) / 8
    for bias in (tensor((7, 9), dtype, 3), tensor((9,), dtype, 4), torch.ones((), dtype=dtype)):
        for beta, alpha in ((1, 1), (0, 1), (0.5, -2)):
            tolerance = {"rtol": 2e-2, "atol": 0.5} if dtype.itemsize == 2 else {"rtol": 1e-4, "atol": 1e-4}
            kernels.check("aten::addbmm.out", bias, a, b, beta=beta, alpha=alpha, **tolerance)
            narrow = a[:, :, :1].contiguous(), b[:, :1].contiguous()
            kernels.check("aten::addbmm.out", bias, *narrow, beta=beta, alpha=alpha, **tolerance)
    kernels.check("aten::addbmm.out", tensor((7, 9), dtype, 3), a[:0], b[:0], beta=2, alpha=1)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("columns", [1, 3, 4, 5, 32, 70])
def test_tall_matrices_of_integers(kernels: Kernels, dtype: torch.dtype, columns: int) -> None:
    a, b = random_tensor((70, 3), dtype), random_tensor((3, columns), dtype)
    kernels.check("aten::mm.out", a, b)
    kernels.check("aten::mm.out", a, b.t().contiguous().t())
    for bias in (random_tensor((), dtype), random_tensor((columns,), dtype), random_tensor((70, 1), dtype)):
        kernels.check("aten::addmm.out", bias, a, b, beta=3, alpha=2)
