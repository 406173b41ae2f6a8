# SPDX-License-Identifier: BSD-3-Clause
"""Calls of PyTorch as modules: the tensors among the arguments are the inputs, all others are constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten


class Bound(torch.nn.Module):
    """Calls `called` with stored arguments; forward replaces their tensors, in order.

    Attributes:
        tensors: the tensors among these arguments.
    """

    def __init__(
        self, called: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.called = called
        leaves, self._tree = tree_flatten((tuple(args), dict(kwargs or {})))
        self._leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self._positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        tensors = [leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)]
        object.__setattr__(self, "tensors", tuple(tensors))

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self._leaves)
        for position, tensor in zip(self._positions, tensors, strict=True):
            leaves[position] = tensor
        args, kwargs = tree_unflatten(leaves, self._tree)
        return self.called(*args, **kwargs)
