# SPDX-License-Identifier: BSD-3-Clause
"""A model's source lines: exported with a debug record, run with a trace, and found in profiles, errors and
the official Inspector."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.codegen.table import OperatorTable, load_table
from rushlight.errors import InvalidArgument
from rushlight.program import DebugRecord, read_debug_record
from rushlight.run.check import check
from rushlight.runtime import runtime_info
from rushlight.sources import source_root
from rushlight.trace.profile import origins_of, profile, read_events

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        not runtime_info()["build"]["event_tracing"], reason="the runtime was built without event tracing"
    ),
]


class Net(torch.nn.Module):
    """Looks rows up and mixes them."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = torch.nn.Linear(5, 3)

    def forward(self, table: Any, rows: Any) -> Any:
        found = table[rows]  # lookup
        mixed = self.mix(found)  # mix
        return torch.sin(mixed)  # squash


INPUTS = (np.arange(20, dtype=np.float32).reshape(4, 5), np.array([3, 0]))
STEPS = ("lookup", "mix", "squash")


def line_of(step: str) -> str:
    """File and number of the line with that comment."""
    lines, first = inspect.getsourcelines(Net)
    return f"{__file__}:{first + next(i for i, line in enumerate(lines) if f'# {step}' in line)}"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported program with its record beside it."""
    path = tmp_path_factory.mktemp("net") / "model.pte"
    rushlight.export(Net().eval(), tuple(map(torch.from_numpy, INPUTS))).save(path, debug=True)
    return path


@pytest.fixture(scope="module")
def record(model: Path) -> DebugRecord:
    return read_debug_record(model.with_name("model.debug.json"))


@pytest.fixture(scope="module")
def trace(model: Path) -> Path:
    """The ETDump of one run."""
    path = model.with_name("trace.etdp")
    program = rushlight.load(model, enable_etdump=True)
    program.forward(*INPUTS)
    program.write_etdump_result_to_file(path)
    return path


def test_the_profile_has_the_lines_of_the_model(model: Path, trace: Path) -> None:
    result = profile(read_events(trace), origins_of(model))
    assert [item.source.partition(": ")[0] for item in result.operators] == [line_of(step) for step in STEPS]
    assert [item.module for item in result.operators] == ["(Net)", "mix (Linear)", "(Net)"]


def test_what_fails_while_running_names_the_line(model: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        rushlight.load(model).forward(INPUTS[0], np.array([3, 9]))
    assert caught.value.source.startswith(line_of("lookup"))
    assert line_of("lookup") in str(caught.value)


@pytest.mark.parametrize(
    ("operator", "step"), [("aten::sin.out", "squash"), ("aten::index.Tensor_out", "lookup")]
)
def test_what_cannot_run_names_the_line(model: Path, operator: str, step: str) -> None:
    assert check(model).runs
    table = load_table(source_root() / "kernels" / "ops.yaml")
    less = OperatorTable(table.path, {k: v for k, v in table.operators.items() if k != operator})
    (finding,) = check(model, table=less).findings
    assert finding.operator == operator and finding.source.startswith(line_of(step))


def test_the_official_inspector_joins_a_trace_with_the_record(
    model: Path, record: DebugRecord, trace: Path
) -> None:
    """The Inspector looks debug handles up by instruction, and graph nodes by debug handle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        devtools = pytest.importorskip("executorch.devtools", reason="executorch is not installed")
        etrecord = pytest.importorskip("executorch.devtools.etrecord._etrecord")
    graph = torch.export.export(Net().eval(), tuple(map(torch.from_numpy, INPUTS)))
    handles = {origin.node: origin.handles[0] for origin in record.method("forward").instructions}
    for node in graph.graph.nodes:
        if node.name in handles:
            node.meta["debug_handle"] = handles[node.name]
    path = model.with_name("etrecord.bin")
    etrecord.ETRecord(
        edge_dialect_program=graph,
        _debug_handle_map=record.debug_handle_map(),
        _delegate_map=record.delegate_map(),
        _instruction_id_to_num_outs_map={"forward": {}},
    ).save(str(path))
    inspected = devtools.Inspector(etdump_path=str(trace), etrecord=str(path))
    calls = [e for block in inspected.event_blocks for e in block.events if e.name.startswith("native_call_")]
    assert [event.debug_handles for event in calls] == sorted(handles.values())
    for event, step in zip(calls, STEPS, strict=True):
        (traces,) = event.stack_traces.values()
        file, _, number = line_of(step).rpartition(":")
        assert f'File "{file}", line {number}' in traces
