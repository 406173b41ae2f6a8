# SPDX-License-Identifier: BSD-3-Clause
"""The facts of calls that a selection hands to kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rushlight.codegen import emit
from rushlight.codegen.calls import facts_text, gemm_shapes, pixel_strips, plane_taps, read_facts
from rushlight.codegen.closure import program_calls
from rushlight.codegen.selection import Selection
from rushlight.codegen.table import OperatorTable, load_table
from rushlight.program import Program, TensorInfo, Value, read_model
from rushlight.program.model import Dynamism, Kind
from rushlight.sources import source_root

MODEL = Path(__file__).parents[2] / "interop" / "model_dscnn" / "model.pte"


@pytest.fixture(scope="module")
def table() -> OperatorTable:
    return load_table(source_root() / "kernels" / "ops.yaml")


def header(table: OperatorTable, *, by_calls: bool = True, ops: str = "") -> str:
    selection = Selection(table, by_dtype=True, by_calls=by_calls)
    selection.add_model(MODEL)
    selection.add_list(ops)
    return emit.selected_calls(table, selection.resolve())


def test_equal_calls_count_once(table: OperatorTable) -> None:
    calls = program_calls(read_model(MODEL), table)["aten::convolution.out"].facts
    assert calls is not None
    weights = sorted(fact.numbers for call in calls for fact in call if fact.name == "weight")
    assert weights == [(64, 1, 3, 3), (64, 1, 10, 4), (64, 64, 1, 1)]
    first = next(call for call in calls if call[1].numbers == (64, 1, 10, 4))
    assert (first[0].numbers, first[0].strides) == ((1, 1, 49, 10), (490, 490, 10, 1))
    assert next(fact.numbers for fact in first if fact.name == "stride") == (2, 2)
    assert gemm_shapes("convolution", calls) == {(64, 125)}
    assert plane_taps(calls) == {9, 40}
    assert pixel_strips(calls) == {(1, 3, 3, 1, 0)}
    assert gemm_shapes("lstm", calls) is None


def test_a_shape_that_may_change_makes_all_calls_of_its_operator_unknown(table: OperatorTable) -> None:
    program = read_model(MODEL)
    method = program.plans[0]
    taken = method.inputs[0]
    info = method.values[taken].data
    assert isinstance(info, TensorInfo)
    values = list(method.values)
    values[taken] = Value(Kind.TENSOR, replace(info, dynamism=Dynamism.BOUNDED))
    changed: Program = replace(program, plans=(replace(method, values=tuple(values)),))
    calls = program_calls(changed, table)
    assert calls["aten::convolution.out"].facts is None
    assert calls["aten::addmm.out"].facts is not None


def test_kernels_see_the_calls_of_models_that_select_alone(table: OperatorTable) -> None:
    def row(text: str) -> str:
        return next(line for line in text.splitlines() if line.strip().startswith('{"convolution", '))

    assert "true, kCallsOf_convolution, 3" in row(header(table))
    assert "false, nullptr, 0" in row(header(table, by_calls=False))
    assert "false, nullptr, 0" in row(header(table, ops="aten::convolution.out"))
    assert "true, kCallsOf_convolution, 3" in row(header(table, ops="aten::cos.out"))


def test_a_selection_file_has_the_calls_of_its_models(table: OperatorTable, tmp_path: Path) -> None:
    selection = Selection(table, by_dtype=True, by_calls=True)
    selection.add_model(MODEL)
    path = tmp_path / "selected_operators.yaml"
    path.write_text(emit.selected_operators(selection, selection.resolve()))
    read = Selection(table, by_dtype=True, by_calls=True)
    read.add_yaml(path)
    assert emit.selected_calls(table, read.resolve()) == emit.selected_calls(table, selection.resolve())
    # Another origin that does not know its calls.
    read.add_list("aten::convolution.out")
    needs = read.info.needs
    assert needs["aten::convolution.out"].calls is None and needs["aten::addmm.out"].calls is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        "3",
        '[["a"]]',
        '[["a","tensor",[1],[1,1]]]',
        '[["a","numbers",[1],[1]]]',
        '[["a","numbers",[1.5],[]]]',
        '[["a","numbers",[true],[]]]',
        '[["a","numbers","12",[]]]',
        f'[["a","numbers",[{2**63}],[]]]',
        '[["a","numbers",[1,2,3,4,5,6,7,8,9],[]]]',
        '[["a","strings",[],[]]]',
        '[["a",["other"],[],[]]]',
        '[["a\\";","other",[],[]]]',
        "[" + ",".join(['["a","other",[],[]]'] * 33) + "]",
    ],
)
def test_a_note_that_is_no_call_is_refused(text: str) -> None:
    assert read_facts(text) is None


def test_facts_survive_their_text(table: OperatorTable) -> None:
    calls = program_calls(read_model(MODEL), table)["aten::convolution.out"].facts
    assert calls
    assert [read_facts(facts_text(call)) for call in calls] == list(calls)


@pytest.mark.parametrize(("by_calls", "is_portable"), [(True, False), (False, True)])
def test_a_back_that_only_needs_scratch_replaces_the_portable_code_of_known_calls(
    table: OperatorTable, by_calls: bool, is_portable: bool
) -> None:
    selection = Selection(table, by_dtype=True, by_calls=by_calls)
    selection.add_model(MODEL)
    selected = next(s for s in selection.resolve() if s.operator.name == "aten::convolution.out")
    assert selected.operator.back is not None and selected.operator.back.needs_scratch
    assert selected.has_portable is is_portable
