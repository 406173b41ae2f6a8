# SPDX-License-Identifier: BSD-3-Clause
"""Compares and counts sizes of tensors, ints or symbols, without adding guards to the symbols."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch


def same_size(a: Any, b: Any) -> bool:
    """True if two sizes are known to be equal; False if that is unknown."""
    if isinstance(a, torch.SymInt) or isinstance(b, torch.SymInt):
        return bool(_expression(a) == _expression(b))
    return bool(a == b)


def same_sizes(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """True if two shapes are known to be equal."""
    return len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True))


def is_static(sizes: Sequence[Any]) -> bool:
    """True if no size is symbolic."""
    return not any(isinstance(size, torch.SymInt) for size in sizes)


def static_bytes(tensor: torch.Tensor) -> int | None:
    """Bytes of the tensor's elements, without padding; None if a size is symbolic."""
    return prod(tensor.shape) * tensor.element_size() if is_static(tensor.shape) else None


def estimated_bytes(tensor: torch.Tensor) -> int:
    """Bytes of the tensor's elements; a symbolic size counts as in the example inputs, or as 1."""
    sizes = [_hint(size) if isinstance(size, torch.SymInt) else size for size in tensor.shape]
    return prod(sizes) * tensor.element_size()


def _hint(size: torch.SymInt) -> int:
    return int(size.node.hint) if size.node.has_hint() else 1


def _expression(size: Any) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else size
