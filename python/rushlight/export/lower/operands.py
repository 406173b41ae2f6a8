# SPDX-License-Identifier: BSD-3-Clause
"""Converts values of a graph to operands: dtypes, shapes and their upper bounds."""

from __future__ import annotations

from typing import Any

import torch

from rushlight.lowered.instructions import MemoryKind, NumberOperand, Operand, Storage, TensorOperand
from rushlight.program.dim_order import DimOrder, row_major

_MAX_SIZE = 2**31 - 1
_SYMBOLIC = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Unbounded(Exception):
    """A size without an upper bound."""

    def __init__(self, expression: Any) -> None:
        super().__init__(f"size {expression} has no upper bound")
        self.expression = expression


def dtype_name(dtype: torch.dtype) -> str:
    """ "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def is_symbolic(value: Any) -> bool:
    """True if the value is known only at run time."""
    return isinstance(value, _SYMBOLS) and value.node.expr.is_number is not True


def constant_scalar(value: Any) -> Any:
    """The number of a symbol with a constant value; any other value as it is."""
    if isinstance(value, _SYMBOLS) and not is_symbolic(value):
        kind = next(plain for symbolic, plain in _SYMBOLIC.items() if isinstance(value, symbolic))
        return kind(value.node.expr)
    return value


def upper_bound(size: int | torch.SymInt) -> int:
    """The largest value that a size can take. Errors: Unbounded."""
    if not isinstance(size, torch.SymInt):
        return int(size)
    expression = size.node.expr
    if expression.is_number:
        return int(expression)
    upper = size.node.shape_env.bound_sympy(expression).upper
    try:
        bound = int(upper)
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise Unbounded(expression) from None
    if bound > _MAX_SIZE:
        raise Unbounded(expression)
    return max(bound, 0)


def tensor_operand(
    value: torch.Tensor, name: str, dim_order: DimOrder | None = None, kind: MemoryKind = MemoryKind.PLANNED
) -> TensorOperand:
    """A new tensor operand with its own storage and the shape of `value` (a FakeTensor). Errors:
    Unbounded."""
    sizes = tuple(upper_bound(size) for size in value.shape)
    operand = TensorOperand(
        dtype=dtype_name(value.dtype),
        sizes=sizes,
        dim_order=row_major(len(sizes)) if dim_order is None else dim_order,
        storage=Storage(name, 0, kind),
        is_dynamic=any(is_symbolic(size) for size in value.shape),
        symbols=symbols_of(value),
    )
    operand.storage.nbytes = operand.nbytes
    return operand


def symbols_of(value: torch.Tensor) -> tuple[str, ...]:
    """The sizes as expressions if any is symbolic, else empty."""
    return tuple(map(str, value.shape)) if any(is_symbolic(size) for size in value.shape) else ()


def new_operand(value: Any, name: str, dim_order: Any = None) -> Operand:
    """A new operand for a node's result: a tensor, a scalar, None, or a list of those. Errors: Unbounded."""
    if isinstance(value, torch.Tensor):
        return tensor_operand(value, name, dim_order)
    if isinstance(value, (tuple, list)):
        orders = dim_order if isinstance(dim_order, (tuple, list)) else [None] * len(value)
        pairs = zip(value, orders, strict=False)
        return [new_operand(item, f"{name}.{index}", order) for index, (item, order) in enumerate(pairs)]
    for symbolic, plain in _SYMBOLIC.items():
        if isinstance(value, symbolic):
            return NumberOperand(plain)
    return None if value is None else NumberOperand(type(value))
