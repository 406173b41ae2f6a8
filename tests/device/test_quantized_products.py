# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions and linear layers of integers on all targets: the bytes of the definition, which
tests/kernels/test_quantized_products.py also compares with the host's kernels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from rushlight import targets
from rushlight.codegen.table import load_table
from rushlight.export.dialect import integers as dialect
from rushlight.integers.arithmetic import ROUNDINGS
from rushlight.sources import source_root
from support.boards import need, set_vector_length
from support.calls_program import computed
from support.harness import with_dim_order
from support.opinfo.recording import RecordedCall
from support.quantized_products import CONVOLUTION, LINEAR, NUMBERS, drawn_convolution, drawn_linear

pytestmark = pytest.mark.device

OPERATORS = load_table(source_root() / "kernels" / "ops.yaml").operators
EACH = 25  # calls for each operator, rounding and dtype
MOST = 4000  # elements of a call
FEW = {"microbit": 3}  # calls for each operator, on boards with little memory


def _drawn(name: str, rounding: str, dtype: torch.dtype) -> Iterator[RecordedCall]:
    row = OPERATORS[name]
    schema = torch._C.parse_schema(row.schema.text)
    function = dialect.overload(name.partition(".")[0])
    draw = drawn_convolution if name == CONVOLUTION else drawn_linear
    for seed in itertools.count(1000):
        arguments, order = draw(seed, rounding, dtype)
        expected = function(*arguments)
        out = with_dim_order(torch.full_like(expected, 113), order)
        given: dict[str, Any] = dict(zip((a.name for a in schema.arguments), arguments, strict=False))
        call = RecordedCall(name, schema, function, given, [*arguments, out], [out], [expected])
        if sum(tensor.numel() for tensor in call.tensors) <= MOST:
            yield call


@pytest.fixture(scope="module")
def calls() -> list[RecordedCall]:
    """The calls that the targets compute, all kinds in turn."""
    kinds = itertools.product((CONVOLUTION, LINEAR), ROUNDINGS, NUMBERS)
    drawn = [list(itertools.islice(_drawn(*kind), EACH)) for kind in kinds]
    return [call for each in zip(*drawn, strict=True) for call in each]


def fitting(calls: list[RecordedCall], target: str) -> list[RecordedCall]:
    """The calls that fit in a target's memory: only the smallest on boards with little memory."""
    if target not in FEW:
        return calls
    ordered = sorted(calls, key=lambda each: sum(tensor.nbytes for tensor in each.tensors))
    return [
        call
        for name in (CONVOLUTION, LINEAR)
        for call in [each for each in ordered if each.row == name][: FEW[target]]
    ]


def check(calls: list[RecordedCall], target: str, folder: Path) -> None:
    """Runs the calls on a target."""
    results = computed(calls, target, folder)
    wrong = [
        f"{call}: {int((out != call.expected[0]).sum())} of {out.numel()}"
        for call, (out,) in zip(calls, results, strict=True)
        if not torch.equal(out, call.expected[0])
    ]
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:20])


def test_a_target_has_the_bytes_of_the_definition(
    calls: list[RecordedCall], target: targets.Target, folder_of: Callable[[str], Path]
) -> None:
    need(target.name)
    chosen = fitting(calls, target.name)
    assert {call.row for call in chosen} == {CONVOLUTION, LINEAR}
    check(chosen, target.name, folder_of(target.name))


@pytest.mark.rv64gcv
@pytest.mark.parametrize("bits", [128, 512])
def test_vectors_may_have_any_length(
    bits: int, calls: list[RecordedCall], folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("rv64gcv")
    set_vector_length(bits, monkeypatch)
    check(calls, "rv64gcv", folder_of("rv64gcv"))
