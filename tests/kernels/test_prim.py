# SPDX-License-Identifier: BSD-3-Clause
"""The prim operators, whose scalars follow Python's rules, against Python."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, KernelRefused, Kernels, assert_equal, poison, random_tensor, with_dim_order

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "truediv": operator.truediv,
    "mod": operator.mod,
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "lt": operator.lt,
    "ge": operator.ge,
    "le": operator.le,
    "sym_max": torch.sym_max,
    "sym_min": torch.sym_min,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "sym_float": float,
    "sym_int": int,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "sym_not": operator.not_,
}
SMALL = st.one_of(
    st.booleans(), st.integers(-20, 20), st.sampled_from([0.0, -0.0, 0.5, -1.5, 2.5, 7.0, -7.0, 3.25, 1e300])
)
WIDE = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([2.0**53, 2.0**63, -(2.0**63), float(2**53 + 2), 9007199254740993, 0.1]),
)


def name_of(operation: str) -> str:
    """The operator's full name."""
    return f"executorch_prim::{operation}.Scalar"


def check(kernels: Kernels, operation: str, expected: Callable[..., Any], *operands: Any) -> None:
    """Compares value and kind with Python; Python's errors and results beyond 64 bits must be refused."""
    try:
        value = expected(*operands)
    except (ZeroDivisionError, OverflowError, ValueError):
        value = None
    fits = value is not None and (isinstance(value, float) or -(2**63) <= value < 2**63)
    if not fits:
        with pytest.raises(KernelRefused, match="InvalidArgument"):
            kernels.run(name_of(operation), [*operands, 0])
        return
    result = kernels.run(name_of(operation), [*operands, 0])[-1]
    assert type(result) is type(value), (operation, operands, result, value)
    assert result == value, (operation, operands)
    assert math.copysign(1, result) == math.copysign(1, value), (operation, operands)


@settings(max_examples=200, deadline=None)
@given(a=SMALL, b=SMALL, operation=st.sampled_from(sorted(BINARY)))
def test_two_numbers_as_in_python(kernels: Kernels, a: Any, b: Any, operation: str) -> None:
    if operation.startswith("sym_") and type(a) is not type(b):
        a, b = float(a), float(b)
    check(kernels, operation, BINARY[operation], a, b)


@settings(max_examples=100, deadline=None)
@given(a=WIDE, b=WIDE, operation=st.sampled_from(sorted(set(BINARY) - {"truediv", "sym_max", "sym_min"})))
def test_numbers_at_the_ends_of_64_bits(kernels: Kernels, a: Any, b: Any, operation: str) -> None:
    check(kernels, operation, BINARY[operation], a, b)


@settings(max_examples=100, deadline=None)
@given(a=st.one_of(SMALL, WIDE), operation=st.sampled_from(sorted(UNARY)))
def test_one_number_as_in_python(kernels: Kernels, a: Any, operation: str) -> None:
    check(kernels, operation, UNARY[operation], a)


@pytest.mark.parametrize("operation", ["ceil", "round", "trunc", "sym_int"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2.0**63])
def test_no_integer_is_made_of_what_is_none(kernels: Kernels, operation: str, value: float) -> None:
    with pytest.raises(KernelRefused, match="InvalidArgument"):
        kernels.run(name_of(operation), [value, 0])


@pytest.mark.parametrize("value", [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370497.0])
def test_round_takes_ties_to_even(kernels: Kernels, value: float) -> None:
    check(kernels, "round", round, value)


@pytest.mark.parametrize(
    ("operation", "a", "b"),
    [
        ("floordiv", -(2**63), -1),
        ("mod", -(2**63), -1),
        ("mul", 2**62, 2),
        ("add", 2**63 - 1, 1),
        ("sub", -(2**63), 1),
        ("floordiv", 1, 0),
        ("mod", 1, 0),
        ("mod", 1.0, 0),
        ("truediv", 1, 0),
        ("truediv", 1.0, -0.0),
        ("eq", 2**53 + 1, 2.0**53),
        ("lt", 2**63 - 1, 2.0**63),
    ],
)
def test_divisions_and_ends_do_not_trap(kernels: Kernels, operation: str, a: Any, b: Any) -> None:
    check(kernels, operation, BINARY[operation], a, b)


def test_nan_is_unlike_everything(kernels: Kernels) -> None:
    for operation in ["eq", "ne", "lt", "gt", "le", "ge"]:
        for a, b in [(math.nan, 1), (1.0, math.nan), (math.nan, math.nan)]:
            assert kernels.run(name_of(operation), [a, b, False])[-1] is (operation == "ne")


def test_an_integer_beside_a_float_becomes_one(kernels: Kernels) -> None:
    assert repr(kernels.run(name_of("sym_max"), [3, 2.0, 0])[-1]) == "3.0"
    assert repr(kernels.run(name_of("sym_min"), [2, 3.0, 0])[-1]) == "2.0"
    assert kernels.run(name_of("sym_max"), [3, 4, 0])[-1] == 4


def test_integer_overloads_take_integers_only(kernels: Kernels) -> None:
    assert kernels.run("executorch_prim::floordiv.int", [-7, 2, 0])[-1] == -4
    assert kernels.run("executorch_prim::mod.int", [-7, 2, 0])[-1] == 1
    for operation in ["floordiv", "mod"]:
        with pytest.raises(KernelRefused, match="InvalidType"):
            kernels.run(f"executorch_prim::{operation}.int", [7.0, 2, 0])


def test_if_then_else_keeps_the_kind(kernels: Kernels) -> None:
    assert repr(kernels.run(name_of("sym_ite"), [True, 2.5, 3, 0])[-1]) == "2.5"
    assert repr(kernels.run(name_of("sym_ite"), [0, 2.5, 3, 0])[-1]) == "3"


@pytest.mark.parametrize("operation", [*BINARY, *UNARY, "sym_ite"])
def test_operands_that_are_no_numbers_are_refused(kernels: Kernels, operation: str) -> None:
    count = 3 if operation == "sym_ite" else 2 if operation in BINARY else 1
    wrong: list[Any] = [None, torch.zeros(1)]
    for position in range(count + 1):
        if operation == "sym_ite" and position == 2:
            continue  # not checked
        for value in wrong:
            operands: list[Any] = [1] * (count + 1)
            operands[position] = value
            with pytest.raises(KernelRefused, match="InvalidType"):
                kernels.run(name_of(operation), operands)


def test_sizes_strides_and_counts_of_a_tensor(kernels: Kernels) -> None:
    x = with_dim_order(torch.zeros(2, 3, 4, 5), [0, 2, 3, 1])
    for d in range(-4, 4):
        assert kernels.run("aten::sym_size.int", [x, d, 0])[-1] == x.size(d)
        assert kernels.run("aten::sym_stride.int", [x, d, 0])[-1] == x.stride(d)
    assert kernels.run("aten::sym_numel", [x, 0])[-1] == 120
    for operation in ["size", "stride"]:
        for tensor, d in [(x, 4), (x, -5), (torch.tensor(1.0), 0)]:
            with pytest.raises(KernelRefused, match="InvalidArgument"):
                kernels.run(f"aten::sym_{operation}.int", [tensor, d, 0])


@pytest.mark.parametrize("dtype", ALL)
def test_the_only_element_becomes_a_number(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((1, 1), dtype, low=1)
    result = kernels.run("aten::_local_scalar_dense", [x, 0])[-1]
    assert repr(result) == repr(x.item())
    with pytest.raises(KernelRefused, match="InvalidArgument"):
        kernels.run("aten::_local_scalar_dense", [torch.zeros(2, dtype=dtype), 0])


def test_et_view_gives_new_sizes_over_the_same_memory(kernels: Kernels) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    view = x.view(4, 6)
    kernels.run("executorch_prim::et_view.default", [x, [4, -1], view], dynamic=[view])
    assert_equal(x, torch.arange(24.0).reshape(2, 3, 4))


def test_et_view_takes_layouts_that_mean_the_same(kernels: Kernels) -> None:
    pixel = torch.zeros(2, 3, 1, 1).to(memory_format=torch.channels_last)
    kernels.run("executorch_prim::et_view.default", [pixel, [2, 3], pixel.view(2, 3)])
    image = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    kernels.run("executorch_prim::et_view.default", [image, [2, 3, 4, 5], image.view(2, 3, 4, 5)])
    with pytest.raises(KernelRefused, match="InvalidArgument"):
        kernels.run("executorch_prim::et_view.default", [image, [6, 20], torch.zeros(6, 20)])


@pytest.mark.parametrize(
    ("size", "out"),
    [
        ([5, -1], torch.zeros(4, 6)),
        ([-1, -1], torch.zeros(4, 6)),
        ([3, 8], torch.zeros(4, 6)),
        ([24], torch.zeros(4, 6)),
        ([4, 6], torch.zeros(4, 6).int()),
        ([4, 6], torch.zeros(6, 4).T),
        ([4, 6], 3),
        ([4, 6], None),
    ],
)
def test_et_view_refuses_what_is_no_view(kernels: Kernels, size: list[int], out: Any) -> None:
    with pytest.raises(KernelRefused, match=r"Invalid(Argument|Type)"):
        kernels.run("executorch_prim::et_view.default", [torch.zeros(2, 3, 4), size, out])


def test_et_copy_index_fills_one_element_after_another(kernels: Kernels) -> None:
    rows = random_tensor((4, 3, 2), torch.float32)
    out = poison(torch.empty(4, 3, 2))
    for index in range(4):
        kernels.run("executorch_prim::et_copy_index.tensor", [out, rows[index].clone(), index])
    assert_equal(out, rows)
    grown = poison(torch.empty(1, 3, 2))
    kernels.run("executorch_prim::et_copy_index.tensor", [grown, rows[0].clone(), 0], dynamic=[grown])
    assert_equal(grown, rows[:1])


@pytest.mark.parametrize(
    ("to_copy", "index"),
    [
        (torch.zeros(3, 2), 4),
        (torch.zeros(3, 2), -1),
        (torch.zeros(3, 2), 2**62),
        (torch.zeros(2, 3), 1),
        (torch.zeros(2, 3), 0),
        (torch.zeros(3), 1),
        (torch.zeros(3, 2).int(), 1),
    ],
)
def test_et_copy_index_stays_inside(kernels: Kernels, to_copy: torch.Tensor, index: int) -> None:
    with pytest.raises(KernelRefused, match=r"Invalid(Argument|Type)"):
        kernels.run("executorch_prim::et_copy_index.tensor", [torch.zeros(4, 3, 2), to_copy, index])
