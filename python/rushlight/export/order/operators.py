# SPDX-License-Identifier: BSD-3-Clause
"""Operators that copy or create tensors in a given dim order.

They stand for the runtime's `dim_order_ops::*`. They have another namespace because the official exporter
registers operators under that one, and both exporters may be imported in one process.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from rushlight.program.dim_order import inverse

NAMESPACE = "rushlight_dim_order"

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LIBRARY = torch.library.Library(NAMESPACE, "DEF")
_LIBRARY.define("_clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor")
_LIBRARY.define(
    f"_to_dim_order_copy(Tensor self, *, {_OPTIONS}, bool non_blocking=False, int[]? dim_order=None)"
    " -> Tensor"
)
_LIBRARY.define(f"_empty_dim_order(SymInt[] size, *, {_OPTIONS}, int[]? dim_order=None) -> Tensor")


def _ordered(
    sizes: Sequence[int], order: Sequence[int] | None, dtype: torch.dtype | None, device: torch.device | None
) -> torch.Tensor:
    """An uninitialized tensor in a dim order; row-major if `order` is None."""
    if order is None:
        return torch.empty(sizes, dtype=dtype, device=device)
    return torch.empty([sizes[d] for d in order], dtype=dtype, device=device).permute(inverse(order))


def _like(tensor: torch.Tensor, order: Sequence[int] | None, dtype: torch.dtype | None) -> torch.Tensor:
    if order is None:
        return torch.empty_like(tensor, dtype=dtype)
    return _ordered(tensor.shape, order, dtype or tensor.dtype, tensor.device)


def _clone(
    self: torch.Tensor, *, non_blocking: bool = False, dim_order: Sequence[int] | None = None
) -> torch.Tensor:
    return _like(self, dim_order, None).copy_(self)


def _to_copy(
    self: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    dim_order: Sequence[int] | None = None,
) -> torch.Tensor:
    return _like(self, dim_order, dtype).copy_(self)


def _empty(
    size: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    dim_order: Sequence[int] | None = None,
) -> torch.Tensor:
    return _ordered(size, dim_order, dtype, device)


for _name, _function in (
    ("_clone_dim_order", _clone),
    ("_to_dim_order_copy", _to_copy),
    ("_empty_dim_order", _empty),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")

clone_dim_order = getattr(torch.ops, NAMESPACE)._clone_dim_order.default
to_dim_order_copy = getattr(torch.ops, NAMESPACE)._to_dim_order_copy.default
empty_dim_order = getattr(torch.ops, NAMESPACE)._empty_dim_order.default
