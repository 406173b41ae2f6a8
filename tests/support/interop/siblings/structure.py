# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and outputs: scalars, None, lists and dicts, the same tensor twice, constants, empty tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from support.interop import models
from support.interop.models import Fn
from support.interop.official import Case, Entry, one


class Constants(nn.Module):
    """Outputs that do not depend on the input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(6.0).view(2, 3))
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Any:
        return self.table, self.weight, torch.tensor([1, 2, 3]), 5, 2.5, True, None, x * 2


class Settings(nn.Module):
    """Scalars and flags among the inputs."""

    def forward(self, x: Tensor, scale: float, times: int, negate: bool, nothing: None) -> Tensor:
        y = x * scale + times
        return -y if negate else y


class Keywords(nn.Module):
    """Keyword inputs, one of them with a default."""

    def forward(self, x: Tensor, *, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return x * weight if bias is None else x * weight + bias


class OptionalTensors(nn.Module):
    """A tensor input instead of None, and vice versa."""

    def forward(self, a: Tensor, b: Tensor | None, c: Tensor | None) -> Tensor:
        for extra in (b, c):
            if extra is not None:
                a = a + extra
        return a


class NestedInputs(nn.Module):
    """Lists, tuples and dicts inside each other."""

    def forward(self, tree: dict[str, Any], more: tuple[list[Tensor], Tensor]) -> Any:
        parts, last = more
        total = tree["b"]["x"] + tree["a"][0]
        return {"sum": total, "parts": [part * 2 for part in parts], "last": (last, {"twice": last * 2})}


class NoInputs(nn.Module):
    """No inputs, a computed tensor as output."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self) -> Tensor:
        return self.weight * self.weight


def aliases(x: Tensor, y: Tensor) -> Any:
    """Inputs returned unchanged, one tensor twice, and views of one."""
    z = x + y
    return x, z, z, y, z.view(-1), z[0], x.view(3, 2)


def items(x: Tensor) -> Any:
    """Scalars read from tensors."""
    return x.max().item(), x + 1, x.sum().item() > 0


def ranks(x: Tensor) -> Any:
    return x.sum(), x.view(1, 1, 1, 2, 3, 1, 1), x.mean((0, 1), keepdim=True), x[0, 0], x.view(6)[2:2]


def empty(x: Tensor) -> Any:
    return x + 1, x.sum(), torch.cat([x, torch.ones(2, 3)]), x.t(), x.view(3, 0)


def many(*tensors: Tensor) -> Any:
    return [a * b for a, b in zip(tensors, reversed(tensors), strict=True)]


def _one_of_each() -> Case:
    """Methods of every kind in one file, not in alphabetical order."""
    return Case(
        {
            "zeta": Entry(models.mlp(4, 8, 2), [(torch.randn(3, 4),)] * 2),
            "forward": Entry(Fn(lambda x: x + 1), [(torch.randn(3),)]),
            "alpha": Entry(Fn(lambda x: x.long()), [(torch.randn(3, 2) * 9,)]),
            "no_inputs": Entry(NoInputs(), [()]),
        },
        constant_methods={
            "get_int": -(2**40),
            "get_double": float("inf"),
            "get_text": 'µ and "quotes"',
            "get_tensor": torch.arange(6).view(2, 3),
            "get_list": [1, 2, 3],
            "get_bool": False,
        },
    )


def _keywords(bias: Tensor | None) -> Case:
    kwargs: dict[str, Any] = {"weight": torch.randn(3)}
    if bias is not None:
        kwargs["bias"] = bias
    return Case({"forward": Entry(Keywords(), [(torch.randn(3),)], kwargs=kwargs)})


def _nested() -> Case:
    tree = {"b": {"x": torch.randn(2)}, "a": [torch.randn(2)]}
    return one(NestedInputs(), (tree, ([torch.randn(3), torch.randn(1)], torch.randn(2, 2))))


CASES: dict[str, Callable[[], Case]] = {
    "constants": lambda: one(Constants(), (torch.randn(3),)),
    "settings": lambda: one(Settings(), (torch.randn(3), 1.5, 4, True, None)),
    "keywords": lambda: _keywords(None),
    "keywords_all": lambda: _keywords(torch.randn(3)),
    "optional_first": lambda: one(OptionalTensors(), (torch.randn(3), None, torch.randn(3))),
    "optional_none": lambda: one(OptionalTensors(), (torch.randn(3), None, None)),
    "nested": _nested,
    "no_inputs": lambda: one(NoInputs(), ()),
    "unused_inputs": lambda: one(Fn(lambda a, b, c: b * 2), tuple(torch.randn(n) for n in (2, 3, 4))),
    "nothing_computed": lambda: one(Fn(lambda x: x), (torch.randn(3),)),
    "aliases": lambda: one(Fn(aliases), (torch.randn(2, 3), torch.randn(2, 3))),
    "items": lambda: one(Fn(items), (torch.randn(3),)),
    "ranks": lambda: one(Fn(ranks), (torch.randn(2, 3),)),
    "empty": lambda: one(Fn(empty), (torch.randn(0, 3),)),
    "many": lambda: one(Fn(many), tuple(torch.randn(2) for _ in range(40))),
    "methods": _one_of_each,
}
