# SPDX-License-Identifier: BSD-3-Clause
"""Samples of PyTorch's OpInfo database as modules: tensors are the inputs, everything else is constant."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from support.export.bound import Bound
from support.export.exported import TOLERANCE, Judge, compare_outputs
from support.export.verdicts import Sample
from support.opinfo import judging
from support.opinfo.pairs import Pair, samples

# Entries that return uninitialized memory: only shape and dtype can be compared.
UNSET = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_"}
)

# Entries whose results are not unique, and the operator whose comparison of judging.py applies.
_COMPARED_AS = {
    "kthvalue": "aten::kthvalue.values",
    "linalg.eig": "aten::linalg_eig.out",
    "linalg.eigh": "aten::_linalg_eigh.eigenvalues",
    "linalg.svd": "aten::_linalg_svd.U",
    "mode": "aten::mode.values",
    "sort": "aten::sort.values",
    "topk": "aten::topk.values",
}


def sample_modules(pair: Pair, count: int) -> Iterator[Sample]:
    """The first `count` samples that PyTorch itself accepts."""
    torch.default_generator.manual_seed(0)
    taken = (made for sample in samples(pair) if (made := _module(pair, sample)) is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from itertools.islice(taken, count)


class _Chance(TorchDispatchMode):
    """Records if any called operator draws random values."""

    drawn = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.drawn |= torch.Tag.nondeterministic_seeded in function.tags
        return function(*args, **(kwargs or {}))


def _module(pair: Pair, sample: Any) -> Sample | None:
    module = Bound(pair.info.op, (sample.input, *sample.args), sample.kwargs)
    chance = _Chance()
    try:
        with chance:
            first = _called(module, 0)
    except Exception:
        return None
    is_open = pair.info.name in UNSET or (chance.drawn and _differs(module, first))
    return Sample(module, module.tensors, {}, _same_shapes if is_open else _judge(pair, sample))


def _differs(module: Bound, first: list[Any]) -> bool:
    return any(not compare_outputs(_called(module, seed), first).passed for seed in range(1, 20))


def _called(module: Bound, seed: int) -> list[Any]:
    torch.default_generator.manual_seed(seed)
    # Random entries seed themselves, always with the same seed.
    with mock.patch.object(torch, "manual_seed", lambda _: torch.default_generator):
        return tree_leaves(module(*(tensor.clone() for tensor in module.tensors)))


def _judge(pair: Pair, sample: Any) -> Judge | None:
    name = pair.info.name
    if name == "linalg.eigvals":
        return _same_in_any_order
    row = _COMPARED_AS.get(name)
    if row is None:
        return None
    given = {"self": sample.input, "A": sample.input, "compute_v": True, "compute_uv": True, "dim": -1}
    names = {"kthvalue": ("k", "dim"), "topk": ("k", "dim"), "sort": ("dim",), "mode": ("dim",)}
    given |= dict(zip(names.get(name, ()), sample.args, strict=False)) | sample.kwargs
    return lambda got, expected: judging.COMPARISONS[row](given, got, expected)


def _same_shapes(got: Sequence[Any], expected: Sequence[Any]) -> None:
    facts = [[(value.shape, value.dtype) for value in values] for values in (got, expected)]
    assert facts[0] == facts[1], f"expected {facts[1]}, got {facts[0]}"


def _same_in_any_order(got: Sequence[Any], expected: Sequence[Any]) -> None:
    _same_shapes(got, expected)
    if expected[0].numel():
        distances = (got[0][..., :, None] - expected[0][..., None, :]).abs()
        size = expected[0].abs().max()
        assert max(distances.amin(-1).max(), distances.amin(-2).max()) <= TOLERANCE * (size + 1)
