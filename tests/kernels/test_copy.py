# SPDX-License-Identifier: BSD-3-Clause
"""Operators that move elements: views copied, tensors joined and split, layouts and dtypes changed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, KernelRefused, Kernels, assert_equal, poison, random_tensor, with_dim_order

EVERY = [*ALL, torch.complex64, torch.complex128]

# (name, shape of self, further arguments)
VIEWS: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [
    ("aten::permute_copy.out", (3, 4, 5), ([2, 0, 1],)),
    ("aten::permute_copy.out", (2, 3, 4, 5), ([0, -2, 3, 1],)),
    ("aten::permute_copy.out", (), ([],)),
    ("aten::permute_copy.out", (0, 3), ([1, 0],)),
    ("aten::transpose_copy.int_out", (3, 1, 5), (0, -1)),
    ("aten::transpose_copy.int_out", (), (0, -1)),
    ("aten::t_copy.out", (3, 5), ()),
    ("aten::t_copy.out", (3,), ()),
    ("aten::t_copy.out", (), ()),
    ("aten::expand_copy.out", (3, 1), ([2, -1, 4],)),
    ("aten::expand_copy.out", (), ([2, 3],)),
    ("aten::expand_copy.out", (1,), ([0],)),
    ("aten::select_copy.int_out", (3, 4, 5), (1, -2)),
    ("aten::select_copy.int_out", (3,), (0, 2)),
    ("aten::select_copy.int_out", (3, 0), (0, 2)),
    ("aten::slice_copy.Tensor_out", (7, 4), (0, 1, 6, 2)),
    ("aten::slice_copy.Tensor_out", (7, 4), (-1, -3, 2**63 - 1, 1)),
    ("aten::slice_copy.Tensor_out", (7, 4), (0, 5, 2, 1)),
    ("aten::slice_copy.Tensor_out", (7, 4), (0, -100, None, 3)),
    ("aten::slice_copy.Tensor_out", (7, 4), ()),
    ("aten::narrow_copy.out", (7, 4), (0, -3, 2)),
    ("aten::narrow_copy.out", (7, 4), (1, 4, 0)),
    ("aten::split_with_sizes_copy.out", (7, 4), ([1, 0, 6], 0)),
    ("aten::split_with_sizes_copy.out", (2, 7), ([3, 4], -1)),
    ("aten::split_copy.Tensor_out", (7, 4), (3, 0)),
    ("aten::split_copy.Tensor_out", (7, 4), (2, -1)),
    ("aten::split_copy.Tensor_out", (0, 4), (0, 0)),
    ("aten::unbind_copy.int_out", (3, 4), (-1,)),
    ("aten::squeeze_copy.out", (1, 3, 1, 2), ()),
    ("aten::squeeze_copy.dim_out", (1, 3, 1), (-1,)),
    ("aten::squeeze_copy.dim_out", (1, 3, 1), (1,)),
    ("aten::squeeze_copy.dim_out", (), (0,)),
    ("aten::squeeze_copy.dims_out", (1, 3, 1), ([0, 1, -1],)),
    ("aten::squeeze_copy.dims_out", (1, 3, 1), ([],)),
    ("aten::unsqueeze_copy.out", (3, 2), (-1,)),
    ("aten::unsqueeze_copy.out", (), (0,)),
    ("aten::view_copy.out", (3, 4), ([2, -1],)),
    ("aten::view_copy.out", (6,), ([3, 2, 1],)),
    ("aten::view_copy.out", (1,), ([],)),
    ("aten::view_copy.out", (0, 3), ([-1, 3],)),
    ("aten::clone.out", (3, 4), ()),
    ("aten::detach_copy.out", (3, 4), ()),
    ("aten::alias_copy.out", (), ()),
    ("aten::lift_fresh_copy.out", (3,), ()),
]


def case_id(value: Any) -> str:
    """A readable parameter id."""
    return str(value).replace("aten::", "")


def arange_tensor(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A tensor of `shape` whose elements differ, as far as `dtype` permits."""
    return torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)


@pytest.mark.parametrize(("name", "shape", "args"), VIEWS, ids=case_id)
def test_views_are_copied(kernels: Kernels, name: str, shape: tuple[int, ...], args: tuple[Any, ...]) -> None:
    kernels.check(name, arange_tensor(shape, torch.float32), *args)


@pytest.mark.parametrize("dtype", EVERY)
def test_every_element_size_moves(kernels: Kernels, dtype: torch.dtype) -> None:
    x = arange_tensor((3, 4, 5), dtype)
    kernels.check("aten::permute_copy.out", x, [1, 2, 0])
    kernels.check("aten::expand_copy.out", x[:1].clone(), [2, 4, 5])
    kernels.check("aten::slice_copy.Tensor_out", x, 2, 1, 5, 2)
    kernels.check("aten::view_copy.out", x, [5, 12])
    kernels.check("aten::cat.out", [x, x[:, :2].contiguous()], 1)
    kernels.check("aten::stack.out", [x, x], -1)
    kernels.check("aten::clone.out", x)


@pytest.mark.parametrize("in_order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
@pytest.mark.parametrize("out_order", [(0, 1, 2, 3), (0, 2, 3, 1), (1, 3, 2, 0)])
def test_layouts_of_both_sides_are_kept(
    kernels: Kernels, in_order: tuple[int, ...], out_order: tuple[int, ...]
) -> None:
    x = with_dim_order(arange_tensor((2, 3, 4, 5), torch.int32), in_order)
    y = with_dim_order(arange_tensor((2, 3, 4, 5), torch.int32), out_order)
    kernels.check("aten::permute_copy.out", x, [3, 1, 0, 2], out_dim_order=out_order)
    kernels.check("aten::slice_copy.Tensor_out", x, 1, 1, 3, out_dim_order=out_order)
    kernels.check("aten::view_copy.out", x, [5, 2, 6, 2], out_dim_order=out_order)
    kernels.check("aten::cat.out", [x, y], 1, out_dim_order=out_order)
    kernels.check("aten::clone.out", x, out_dim_order=out_order)
    kernels.check("aten::stack.out", [x[0].contiguous(), y[1].contiguous()], 2, out_dim_order=out_order)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_views_of_any_shape(kernels: Kernels, data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=5)))
    rank = len(shape)
    order = data.draw(st.permutations(range(rank)))
    x = with_dim_order(arange_tensor(shape, torch.int16), data.draw(st.permutations(range(rank))))
    kernels.check("aten::permute_copy.out", x, list(order))
    dim = data.draw(st.integers(-rank, rank - 1))
    ends = st.one_of(st.none(), st.integers(-6, 6))
    kernels.check(
        "aten::slice_copy.Tensor_out", x, dim, data.draw(ends), data.draw(ends), data.draw(st.integers(1, 3))
    )
    kernels.check("aten::cat.out", [x, x, x.contiguous()], dim)
    kernels.check("aten::unsqueeze_copy.out", x, dim)


@pytest.mark.parametrize("second", [torch.bool, torch.int8, torch.int64, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("first", [torch.uint8, torch.int32, torch.float16, torch.float32])
def test_cat_and_stack_promote(kernels: Kernels, first: torch.dtype, second: torch.dtype) -> None:
    a, b = random_tensor((2, 3), first), random_tensor((2, 3), second)
    kernels.check("aten::cat.out", [a, b, a], 0)
    kernels.check("aten::cat.out", [a, b], 1, out_dtype=torch.float64)
    kernels.check("aten::stack.out", [a, b], 1)


def test_cat_skips_what_older_programs_call_empty(kernels: Kernels) -> None:
    empty, x = torch.empty(0), random_tensor((2, 3), torch.float32)
    kernels.check("aten::cat.out", [empty, x, empty, x], -2)
    kernels.check("aten::cat.out", [x, empty], 1)
    kernels.check("aten::cat.out", [empty, empty], 0)
    kernels.check("aten::cat.out", [empty.double(), x], 1)
    kernels.check("aten::cat.out", [torch.empty(2, 0), x], 1)


def test_cat_skips_tensors_without_elements_whatever_their_shape(kernels: Kernels) -> None:
    x = random_tensor((2, 3), torch.float32)
    out = poison(torch.empty(4, 3))
    kernels.run("aten::cat.out", [[torch.empty(0, 10, 2), x, torch.empty(5, 0), x], 0, out])
    assert_equal(out, torch.cat([x, x]))


def test_copies_that_should_not_block_are_refused(kernels: Kernels) -> None:
    x, out = random_tensor((2, 3), torch.float32), torch.zeros(2, 3)
    kernels.refuse("aten::_to_copy.out", x, non_blocking=True, outs=[out])
    kernels.refuse("aten::copy.out", x, x, True, outs=[out])
    for name in ["dim_order_ops::_to_dim_order_copy.out", "dim_order_ops::_clone_dim_order.out"]:
        with pytest.raises(KernelRefused, match="non_blocking"):
            kernels.run(name, [x, True, [0, 1], out])


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("source", ALL)
def test_copies_convert(kernels: Kernels, source: torch.dtype, target: torch.dtype) -> None:
    x = random_tensor((3, 4), source, low=0, high=100)
    kernels.check("aten::_to_copy.out", x, out_dtype=target)
    y = poison(torch.empty(3, 4, dtype=target))
    kernels.run("aten::copy_", [y, x, False])
    assert_equal(y, x.to(target))
    kernels.check("aten::copy.out", torch.empty(2, 3, 4, dtype=target), x)
    z = poison(torch.empty(4, 3, dtype=target)).T
    kernels.run("dim_order_ops::_to_dim_order_copy.out", [x, False, [1, 0], z])
    assert_equal(z, x.to(target))


def test_copy_broadcasts_its_source_only(kernels: Kernels) -> None:
    for shape in [(), (1,), (4,), (3, 1), (2, 1, 4)]:
        y = poison(torch.empty(2, 3, 4))
        kernels.run("aten::copy_", [y, arange_tensor(shape, torch.int32), False])
        assert_equal(y, arange_tensor(shape, torch.float32).expand(2, 3, 4))
    for shape in [(2, 3), (2,)]:
        with pytest.raises(KernelRefused, match="InvalidArgument"):
            kernels.run("aten::copy_", [torch.empty(3), torch.empty(shape), False])


def test_special_values_convert_as_in_torch(kernels: Kernels) -> None:
    x = torch.tensor([float("nan"), float("inf"), -0.0, 1e-40, 65520.0, 3.4e38])
    for dtype in [torch.bool, torch.float16, torch.bfloat16, torch.float64]:
        kernels.check("aten::_to_copy.out", x, out_dtype=dtype, rtol=0, atol=0)
    kernels.check("aten::_to_copy.out", torch.tensor([-1.9, 1.9, 300.0, -129.0]), out_dtype=torch.int8)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [0, 1, 2, 3], [3, 2, 1, 0], None])
def test_dim_orders_are_converted(kernels: Kernels, order: list[int] | None) -> None:
    for source in [(0, 1, 2, 3), (0, 2, 3, 1)]:
        x = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), source)
        out = with_dim_order(poison(torch.empty(2, 3, 4, 5)), order or [0, 2, 3, 1])
        kernels.run("dim_order_ops::_clone_dim_order.out", [x, False, order, out], dynamic=[out])
        assert_equal(out, x)


def test_dim_order_asked_for_must_be_that_of_out(kernels: Kernels) -> None:
    x, out = torch.empty(2, 3, 4, 5), torch.empty(2, 3, 4, 5)
    for order in [[0, 2, 3, 1], [0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4]]:
        with pytest.raises(KernelRefused, match="InvalidArgument"):
            kernels.run("dim_order_ops::_clone_dim_order.out", [x, False, order, out])
    # A dimension of size 1 may have any position in the dim order.
    kernels.run(
        "dim_order_ops::_clone_dim_order.out", [x[:, :1].clone(), False, [0, 2, 3, 1], out[:, :1].clone()]
    )
    kernels.check("aten::clone.out", x.fill_(1), memory_format=torch.contiguous_format)
    kernels.check("aten::clone.out", x, memory_format=torch.channels_last, out_dim_order=[0, 2, 3, 1])
    kernels.refuse("aten::clone.out", x, memory_format=torch.channels_last, outs=[out])
    kernels.refuse("aten::clone.out", x[0].clone(), memory_format=torch.channels_last, outs=[out[0].clone()])


def test_empty_dim_order_only_resizes(kernels: Kernels) -> None:
    out = poison(torch.empty(2, 3))
    kernels.run("dim_order_ops::_empty_dim_order.out", [[2, 3], None, out], dynamic=[out])
    assert_equal(out, torch.full((2, 3), 113.0))


F = torch.empty
REFUSED: list[tuple[str, tuple[Any, ...], list[torch.Tensor]]] = [
    ("aten::permute_copy.out", (F(2, 3), [0, 0]), [F(2, 2)]),
    ("aten::permute_copy.out", (F(2, 3), [0]), [F(2)]),
    ("aten::permute_copy.out", (F(2, 3), [0, 2]), [F(2, 2)]),
    ("aten::permute_copy.out", (F(2, 3), [1, 0]), [F(2, 3)]),
    ("aten::permute_copy.out", (F(2, 3), [1, 0]), [F(3, 2).double()]),
    ("aten::transpose_copy.int_out", (F(2, 3), 0, 2), [F(3, 2)]),
    ("aten::t_copy.out", (F(2, 3, 1),), [F(3, 2, 1)]),
    ("aten::expand_copy.out", (F(2, 1), [2]), [F(2)]),
    ("aten::expand_copy.out", (F(2, 1), [-1, 2, 3]), [F(1, 2, 3)]),
    ("aten::expand_copy.out", (F(2, 1), [3, 1]), [F(3, 1)]),
    ("aten::expand_copy.out", (F(1), [1] * 17), [F(1)]),
    ("aten::select_copy.int_out", (F(()), 0, 0), [F(())]),
    ("aten::select_copy.int_out", (F(3), 0, 3), [F(())]),
    ("aten::select_copy.int_out", (F(3), 0, -4), [F(())]),
    ("aten::slice_copy.Tensor_out", (F(3), 0, 0, 2, 0), [F(2)]),
    ("aten::slice_copy.Tensor_out", (F(3), 1, 0, 2, 1), [F(2)]),
    ("aten::slice_copy.Tensor_out", (F(()), 0), [F(())]),
    ("aten::narrow_copy.out", (F(3), 0, 2, 2), [F(2)]),
    ("aten::narrow_copy.out", (F(3), 0, 4, 0), [F(0)]),
    ("aten::narrow_copy.out", (F(3), 0, 0, -1), [F(0)]),
    ("aten::split_with_sizes_copy.out", (F(3), [1, 1], 0), [F(1), F(1)]),
    ("aten::split_with_sizes_copy.out", (F(3), [4, -1], 0), [F(4), F(0)]),
    ("aten::split_with_sizes_copy.out", (F(3), [2**62, 2**62, 2**63 - 1], 0), [F(1), F(1), F(1)]),
    ("aten::split_with_sizes_copy.out", (F(3), [1, 2], 0), [F(1)]),
    ("aten::split_copy.Tensor_out", (F(3), 0, 0), [F(3)]),
    ("aten::split_copy.Tensor_out", (F(3), -1, 0), [F(3)]),
    ("aten::split_copy.Tensor_out", (F(3), 2, 0), [F(2)]),
    ("aten::unbind_copy.int_out", (F(3), 0), [F(()), F(())]),
    ("aten::squeeze_copy.dim_out", (F(1, 2), 2), [F(2)]),
    ("aten::squeeze_copy.dims_out", (F(1, 2), [0, -2]), [F(2)]),
    ("aten::unsqueeze_copy.out", (F(2), 2), [F(2, 1)]),
    ("aten::view_copy.out", (F(6), [4]), [F(4)]),
    ("aten::view_copy.out", (F(6), [-1, 4]), [F(1, 4)]),
    ("aten::view_copy.out", (F(6), [-1, -1]), [F(1, 6)]),
    ("aten::view_copy.out", (F(0), [-1, 0]), [F(0, 0)]),
    ("aten::view_copy.out", (F(6), [-2, -3]), [F(6, 1)]),
    ("aten::view_copy.out", (F(0), [2**31, 2**31, 2**31, 0]), [F(0, 1, 1, 1)]),
    ("aten::view_copy.out", (F(6), [6]), [F(6).int()]),
    ("aten::cat.out", ([], 0), [F(0)]),
    ("aten::cat.out", ([F(()), F(1)], 0), [F(2)]),
    ("aten::cat.out", ([F(2, 3), F(3, 2)], 0), [F(5, 3)]),
    ("aten::cat.out", ([F(2, 3), F(2)], 0), [F(4, 3)]),
    ("aten::cat.out", ([F(2), F(2)], 1), [F(4)]),
    ("aten::cat.out", ([F(2), F(2)], 0), [F(4).int()]),
    ("aten::cat.out", ([F(2), F(2)], 0), [F(3)]),
    ("aten::cat.out", ([torch.empty(2, dtype=torch.complex64), F(2)], 0), [F(4)]),
    ("aten::stack.out", ([], 0), [F(0)]),
    ("aten::stack.out", ([F(2), F(1)], 0), [F(2, 2)]),
    ("aten::stack.out", ([F(2), F(2)], 2), [F(2, 2)]),
    ("aten::clone.out", (F(2),), [F(2).int()]),
    ("aten::copy.out", (F(2), F(3)), [F(2)]),
    ("aten::copy.out", (F(2), F(2)), [F(2).int()]),
]


@pytest.mark.parametrize(
    ("name", "args", "outs"), REFUSED, ids=lambda v: case_id(v) if isinstance(v, str) else ""
)
def test_bad_arguments_are_refused(
    kernels: Kernels, name: str, args: tuple[Any, ...], outs: list[torch.Tensor]
) -> None:
    assert kernels.refuse(name, *args, outs=outs).error in {"InvalidArgument", "InvalidType"}
