# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of tensors, numbers or symbols, compared and counted without adding guards to the symbols."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch


def same_size(a: Any, b: Any) -> bool:
    """Whether two sizes are known to be the same; False where that is open."""
    if isinstance(a, torch.SymInt) or isinstance(b, torch.SymInt):
        return bool(_expression(a) == _expression(b))
    return bool(a == b)


def same_sizes(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two shapes are known to be the same."""
    return len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True))


def is_static(sizes: Sequence[Any]) -> bool:
    """Whether all sizes are numbers."""
    return not any(isinstance(size, torch.SymInt) for size in sizes)


def static_bytes(tensor: torch.Tensor) -> int | None:
    """Bytes of the tensor's elements, each stored once; None where a size is a symbol."""
    return prod(tensor.shape) * tensor.element_size() if is_static(tensor.shape) else None


def _expression(size: Any) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else size
