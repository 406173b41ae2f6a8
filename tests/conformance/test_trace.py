# SPDX-License-Identifier: BSD-3-Clause
"""Traces compared with traces of the official runtime: same events in the same order, same values; the
official Inspector reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.build import BuildRequest, BuildResult, run_request
from rushlight.errors import RushlightError
from rushlight.program import read_program
from rushlight.run.api import run
from rushlight.run.cases import Call, Case, case_of_ones, load_case
from rushlight.run.outcome import RunOutcome
from rushlight.trace.request import TraceRequest

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

INTEROP = Path(__file__).parents[1] / "interop"
RECORD = INTEROP / "etrecord_etdump"
# Lists, control flow, several outputs, prim operators, in-place operators, empty tensors, several methods.
NAMES = ["model_dscnn", "cond_sum", "list_split_cat", "scan", "mutable_counter", "multi_method"]
MODELS = {name: INTEROP / name / "model.pte" for name in NAMES} | {RECORD.name: RECORD / "model.pte"}
TWO_MEGABYTES = 2 << 20


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """A host runner with tracing, for all models."""
    defines = {"EXECUTORCH_ENABLE_EVENT_TRACER": "ON"}
    request = BuildRequest("host", models=tuple(MODELS.values()), defines=defines)
    return run_request(request, tmp_path_factory.mktemp("runner"))


def case_of(name: str) -> Case:
    """The calls of a case on one method, or a call with ones."""
    if name == RECORD.name:
        return case_of_ones(read_program(MODELS[name]), "forward")
    return load_case(INTEROP / name / "case.json")


def ours(runner: BuildResult, name: str, folder: Path) -> RunOutcome:
    """Writes trace.etdp and trace.bin."""
    request = TraceRequest(folder / "trace.etdp", TWO_MEGABYTES, folder / "trace.bin", 2 * TWO_MEGABYTES)
    return run(MODELS[name], case_of(name), built=runner, trace=request)


def official(name: str, folder: Path) -> None:
    """Writes official.etdp and official.bin."""
    official_trace(MODELS[name], case_of(name).calls, folder)


def official_trace(model: Path, calls: Sequence[Call], folder: Path) -> None:
    """Writes the official runtime's trace of the calls into `folder`."""
    torch = pytest.importorskip("torch", reason="needs torch==2.13.0")
    pybindings = pytest.importorskip(
        "executorch.extension.pybindings.portable_lib", reason="needs executorch==1.5.1"
    )
    module = pybindings._load_for_executorch(
        str(model), enable_etdump=True, debug_buffer_size=2 * TWO_MEGABYTES
    )

    def value(array: Any) -> Any:
        return torch.from_numpy(array.copy()) if isinstance(array, np.ndarray) else array

    for call in calls:
        module.run_method(call.method, [value(array) for array in call.inputs])
    module.write_etdump_result_to_file(str(folder / "official.etdp"), str(folder / "official.bin"))


def events(path: Path, values: Path) -> tuple[list[str], list[np.ndarray]]:
    """Each event of a dump as a line, and all tensors in it."""
    from executorch.devtools.etdump.serialize import deserialize_from_etdump_flatcc

    buffer = values.read_bytes()
    lines: list[str] = []
    tensors: list[np.ndarray] = []

    def tensor(logged: Any) -> str:
        kind = {0: "u1", 1: "i1", 3: "i4", 4: "i8", 6: "f4", 7: "f8", 11: "?"}[int(logged.scalar_type)]
        count = int(np.prod(logged.sizes))
        if logged.offset is not None and logged.offset >= 0:
            tensors.append(np.frombuffer(buffer, kind, count, logged.offset))
        return f"{kind}{logged.sizes}{logged.strides}"

    for block in deserialize_from_etdump_flatcc(path.read_bytes()).run_data:
        lines.append(f"block {block.name} {block.bundled_input_index} {block.allocators}")
        for event in block.events or []:
            if event.profile_event:
                item = event.profile_event
                assert item.start_time <= item.end_time
                # A call that was executed while loading the method is recorded so, otherwise as any other.
                name = "OPERATOR_CALL" if item.name == "FOLDED_CALL" else item.name
                what = f"profile {name} {item.delegate_debug_metadata}"
            else:
                item = event.debug_event
                entry = item.debug_entry
                listed = entry.tensor_list.tensors if entry.tensor_list else [entry.tensor]
                shown = " ".join(tensor(each) for each in listed if each is not None)
                what = f"debug {item.name} {entry.val} {shown} {entry.output} {entry.int_value}"
            ids = f"{item.delegate_debug_id_int} {item.delegate_debug_id_str}"
            lines.append(f"{what} {item.chain_index}/{item.instruction_id} {ids}")
    return lines, tensors


@pytest.mark.parametrize("name", MODELS)
def test_a_trace_has_the_events_and_values_of_the_official_one(
    name: str, runner: BuildResult, tmp_path: Path
) -> None:
    official(name, tmp_path)
    outcome = ours(runner, name, tmp_path)
    assert outcome.passed and outcome.trace_loss is not None and outcome.trace_loss.events == 0
    expected, expected_tensors = events(tmp_path / "official.etdp", tmp_path / "official.bin")
    got, tensors = events(tmp_path / "trace.etdp", tmp_path / "trace.bin")
    assert got == expected
    assert len(tensors) == len(expected_tensors) > 0
    for one, other in zip(tensors, expected_tensors, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_the_inspector_joins_a_trace_with_the_record_of_the_export(
    runner: BuildResult, tmp_path: Path
) -> None:
    devtools = pytest.importorskip("executorch.devtools", reason="needs executorch==1.5.1")
    ours(runner, RECORD.name, tmp_path)
    inspected = devtools.Inspector(
        etdump_path=str(tmp_path / "trace.etdp"),
        etrecord=str(RECORD / "etrecord.bin"),
        debug_buffer_path=str(tmp_path / "trace.bin"),
    )
    reference = devtools.Inspector(
        etdump_path=str(RECORD / "etdump.etdp"), etrecord=str(RECORD / "etrecord.bin")
    )
    assert [block.name for block in inspected.event_blocks] == ["Default", "Execute"]
    pairs = [
        (one, other)
        for block, expected in zip(inspected.event_blocks, reference.event_blocks, strict=True)
        for one, other in zip(block.events, expected.events, strict=True)
    ]
    assert len(pairs) == 9
    for one, other in pairs:
        assert one.name == other.name
        assert (one.op_types, one.stack_traces) == (other.op_types, other.stack_traces)
        assert one.module_hierarchy == other.module_hierarchy
        assert one.perf_data.raw[0] > 0
    shapes = [tuple(value.shape) for one, _ in pairs for value in one.debug_data]
    assert shapes == 4 * [(1, 8, 14, 14)] + 2 * [(1, 4, 12, 12)]


def test_the_inspector_reads_operator_times_without_a_record(runner: BuildResult, tmp_path: Path) -> None:
    devtools = pytest.importorskip("executorch.devtools", reason="needs executorch==1.5.1")
    ours(runner, "model_dscnn", tmp_path)
    table = devtools.Inspector(etdump_path=str(tmp_path / "trace.etdp")).to_dataframe()
    names, times = table["event_name"], table["avg (ms)"]
    kernels = names.str.startswith("native_call_")
    assert "native_call_convolution.out" in set(names) and kernels.sum() > 20
    assert 0 < times[kernels].sum() < times[names == "Method::execute"].sum()


def test_a_trace_that_does_not_fit_is_whole_and_says_what_it_lost(
    runner: BuildResult, tmp_path: Path
) -> None:
    devtools = pytest.importorskip("executorch.devtools", reason="needs executorch==1.5.1")
    request = TraceRequest(tmp_path / "small.etdp", 1500)
    outcome = run(MODELS["model_dscnn"], case_of("model_dscnn"), built=runner, trace=request)
    assert outcome.passed and outcome.trace_loss is not None and outcome.trace_loss.events > 20
    assert (tmp_path / "small.etdp").stat().st_size <= 1500
    assert len(devtools.Inspector(etdump_path=str(tmp_path / "small.etdp")).event_blocks) == 2


def test_a_runner_without_tracing_refuses_to_trace(tmp_path: Path) -> None:
    model = INTEROP / "f64_add" / "model.pte"
    built = run_request(BuildRequest("host", models=(model,)), tmp_path / "build")
    case = case_of_ones(read_program(model), "forward")
    with pytest.raises(RushlightError, match="NotSupported"):
        run(model, case, built=built, trace=TraceRequest(tmp_path / "none.etdp"))
    assert not (tmp_path / "none.etdp").exists()


def test_the_inspector_shows_the_nodes_of_a_delegate_as_the_official_delegates(tmp_path: Path) -> None:
    devtools = pytest.importorskip("executorch.devtools", reason="needs executorch==1.5.1")
    model, case = INTEROP / "model_dscnn" / "model_xnnpack.pte", INTEROP / "model_dscnn" / "case.json"
    (call, *_) = load_case(case).calls
    program = rushlight.load(model, enable_etdump=True, debug_buffer_size=TWO_MEGABYTES)
    program.run(call.method, call.inputs)
    program.write_etdump_result_to_file(tmp_path / "own.etdp", tmp_path / "own.bin")
    official_trace(model, [call], tmp_path)
    shown = {}
    for name in ("own", "official"):
        inspected = devtools.Inspector(
            etdump_path=str(tmp_path / f"{name}.etdp"), debug_buffer_path=str(tmp_path / f"{name}.bin")
        )
        shown[name] = [event for block in inspected.event_blocks for event in block.events]
    own, official = (
        [(event._instruction_id, event.is_delegated_op, event.name.split(" #")[-1]) for event in events]
        for events in shown.values()
    )
    assert len(own) == len(official) == 20
    assert [each[:2] for each in own] == [each[:2] for each in official]
    nodes = [event for event in shown["own"] if event.is_delegated_op]
    # Numbered for each operator, as in the official runtime for XNNPACK's operators.
    assert nodes[1].delegate_debug_identifier == "convolution_act.clamp_out #1"
    assert nodes[1].delegate_debug_metadatas == [b"debug_handle=1"]
    assert [len(node.debug_data) for node in nodes] == [1] * 13
    assert tuple(nodes[-1].debug_data[0].shape) == (1, 12)
