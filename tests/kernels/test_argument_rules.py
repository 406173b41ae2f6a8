# SPDX-License-Identifier: BSD-3-Clause
"""Kernels refuse the arguments that PyTorch refuses, and accept the ones it accepts: dtypes of results,
ranks, dim orders and values at the ends of their ranges."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import (
    FLOATING,
    KernelRefused,
    Kernels,
    assert_equal,
    dim_order,
    poison,
    random_tensor,
    with_dim_order,
)

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
    torch.complex64,
]
# Operators and the arguments after their input.
OF_ONE_DTYPE: dict[str, tuple[Any, ...]] = {
    "aten::gelu.out": (),
    "aten::isinf.out": (),
    "aten::isposinf.out": (),
    "aten::isneginf.out": (),
    "aten::isnan.out": (),
    "aten::rsub.Scalar_out": (2,),
    "aten::_conj_physical.out": (),
    "aten::conj_physical.out": (),
}


def in_eager(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), operator), overload)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OF_ONE_DTYPE)
def test_dtypes_of_results_are_those_of_eager(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    x = random_tensor((3,), dtype)
    for wanted in DTYPES:
        expected, out = torch.empty(3, dtype=wanted), poison(torch.empty(3, dtype=wanted))
        try:
            in_eager(name)(x, *OF_ONE_DTYPE[name], out=expected)
        except RuntimeError:  # NotImplementedError is a subclass
            kernels.refuse(name, x, *OF_ONE_DTYPE[name], outs=[out])
        else:
            kernels.run(name, [x, *arguments_of(name), out])
            assert_equal(out, expected)


def arguments_of(name: str) -> list[Any]:
    """All arguments between the input and the result."""
    if name == "aten::gelu.out":
        return ["none"]
    return [2, 1] if name == "aten::rsub.Scalar_out" else []


def test_what_fills_is_a_number(kernels: Kernels) -> None:
    x, out = torch.ones(3), torch.empty(3)
    kernels.check("aten::fill.Tensor_out", x, torch.tensor(7), eager=torch.fill)
    for value in (torch.ones(1), torch.ones(1, 1), torch.ones(3)):
        kernels.refuse("aten::fill.Tensor_out", x, value, outs=[out])


def test_a_scalar_tensor_has_no_dimension(kernels: Kernels) -> None:
    out = torch.empty(())
    kernels.run("aten::scalar_tensor.out", [3.5, out])
    assert out.item() == 3.5
    for rank in (1, 2, 3):
        kernels.refuse("aten::scalar_tensor.out", 3.5, outs=[torch.empty((1,) * rank)])


@pytest.mark.parametrize("name", ["_clone_dim_order", "_to_dim_order_copy"])
@pytest.mark.parametrize("shape", [(3, 1, 1, 2), (0, 2, 3, 4), (2, 3, 4, 5), (3, 1), (1, 2, 1)])
def test_dim_orders_without_a_name_are_refused(kernels: Kernels, name: str, shape: tuple[int, ...]) -> None:
    """Eager supports row-major and channels-last; other dim orders are accepted if `out` has the same."""
    x, rank, full = torch.ones(shape), len(shape), f"dim_order_ops::{name}.out"
    for order in (
        [0, 3, 2, 1],
        [3, 0, 1, 2],
        [0, 1, 2, 3],
        [0, 2, 3, 1],
        [1, 0],
        [0, 1],
        [2, 1, 0],
        [0, 1, 2],
    ):
        if len(order) != rank:
            continue
        has_name = order == sorted(order) or order == [0, 2, 3, 1]
        plain = torch.empty(shape)
        if not has_name and dim_order(plain) != order:
            with pytest.raises(KernelRefused, match="dim_order"):
                kernels.run(full, [x, False, order, plain])
        if has_name or dim_order(with_dim_order(plain, order)) == order:
            out = with_dim_order(poison(plain), order)
            kernels.run(full, [x, False, order, out])
            assert_equal(out, x)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64, *FLOATING])
@pytest.mark.parametrize("name", ["aten::max.unary_out", "aten::min.unary_out"])
def test_the_extremum_of_nothing_is_the_end_of_the_range(
    kernels: Kernels, name: str, dtype: torch.dtype
) -> None:
    for shape in ((0,), (2, 0, 3)):
        x, expected = torch.empty(shape, dtype=dtype), torch.empty((), dtype=dtype)
        in_eager(name)(x, out=expected)
        for variant in kernels.variants(name):
            out = poison(torch.empty((), dtype=dtype))
            kernels.run(name, [x, out], variant=variant)
            assert_equal(out, expected)
