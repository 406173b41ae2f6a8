# SPDX-License-Identifier: BSD-3-Clause
"""Samples of PyTorch's OpInfo database as modules: tensors are the inputs, everything else is part of the
module."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import judging
import torch
from bound import Bound
from opinfo_pairs import Pair, samples
from verdicts import Sample

Judge = Callable[[Sequence[Any], Sequence[Any]], None]

# Entries that return random values, or whatever memory held: shape and dtype are all there is to compare.
RANDOM = frozenset(
    {
        *("bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential"),
        *("geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided", "normal", "rand_like"),
        *("randint", "randint_like", "randn", "randn_like", "uniform", "nn.functional.alpha_dropout"),
        *("nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"),
        *("nn.functional.feature_alpha_dropout", "nn.functional.rrelu", "_native_dropout", "resize_"),
        *("nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "resize_as_"),
    }
)

# Entries whose results are not unique, and the operator that judging.py compares so.
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
    """The first `count` samples that PyTorch itself takes."""
    torch.default_generator.manual_seed(0)
    taken = (made for sample in samples(pair) if (made := _module(pair, sample)) is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from itertools.islice(taken, count)


def _module(pair: Pair, sample: Any) -> Sample | None:
    module = Bound(pair.info.op, (sample.input, *sample.args), sample.kwargs)
    try:
        module(*(tensor.clone() for tensor in module.tensors))
    except Exception:
        return None
    return Sample(module, module.tensors, {}, _judge(pair, sample))


def _judge(pair: Pair, sample: Any) -> Judge | None:
    name = pair.info.name
    if name in RANDOM:
        return _same_shapes
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
