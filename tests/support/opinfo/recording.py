# SPDX-License-Identifier: BSD-3-Clause
"""ATen calls of PyTorch's samples, recorded for kernels and boards."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from support.opinfo.matching import Rows
from support.opinfo.pairs import Pair, all_pairs, samples
from support.opinfo.replay import CALLS_ALIKE, Watch, arguments_of, described


@dataclass
class RecordedCall:
    """A call that PyTorch made, and what it returned.

    Attributes:
        row: name of the operator.
        schema: its schema.
        function: the overload that PyTorch called.
        given: the arguments of PyTorch's call, by name.
        arguments: all arguments of the row, in its schema's order.
        outs: the arguments that the kernel writes: they hold the values that it may read, or nothing of use.
        expected: the expected values of `outs`.
    """

    row: str
    schema: Any
    function: Any
    given: dict[str, Any]
    arguments: list[Any]
    outs: list[torch.Tensor]
    expected: list[torch.Tensor]

    @property
    def tensors(self) -> list[torch.Tensor]:
        """All tensors among the arguments, in order."""
        return [leaf for leaf in tree_leaves(self.arguments) if isinstance(leaf, torch.Tensor)]

    def __str__(self) -> str:
        return f"{self.row}({described(self.given)})"


class Record(Watch):
    """Keeps the calls of some rows, small ones only, in `calls`."""

    def __init__(self, names: Sequence[str], max_elements: int) -> None:
        super().__init__(Rows(names), {}, alike=CALLS_ALIKE)
        self.calls: list[RecordedCall] = []
        self._max_elements = max_elements

    def make_call(self, row: str, given: dict[str, Any], expected: list[torch.Tensor], function: Any) -> None:
        """See Watch."""
        arguments, outs = arguments_of(self.rows, row, given, expected)
        schema = self.rows.overloads[row]._schema
        call = RecordedCall(row, schema, function, given, arguments, outs, expected)
        if sum(tensor.numel() for tensor in call.tensors) <= self._max_elements:
            self.calls.append(call)


def record(
    entries: dict[str, str], dtypes: Sequence[torch.dtype], *, samples_each: int, max_elements: int
) -> list[RecordedCall]:
    """The calls that the first samples of OpInfo entries make.

    Args:
        entries: for each operator the entry that calls it; calls of other operators are not recorded.
        dtypes: dtypes of the samples, as far as an entry has them.
        samples_each: number of samples for an entry and a dtype.
        max_elements: limit for the elements of all tensors of a call together.
    """
    pairs: dict[str, list[Pair]] = {}
    for pair in all_pairs():
        pairs.setdefault(pair.name, []).append(pair)
    calls = []
    for row, entry in entries.items():
        for pair in pairs[entry]:
            if pair.dtype in dtypes:
                watch = Record([row], max_elements)
                _run(pair, watch, samples_each)
                calls += watch.calls
    return calls


def _run(pair: Pair, watch: Record, count: int) -> None:
    torch.default_generator.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in itertools.islice(samples(pair), count):
            with watch:
                pair.info(sample.input, *sample.args, **sample.kwargs)
