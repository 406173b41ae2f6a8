# SPDX-License-Identifier: BSD-3-Clause
"""Profiles from ETDump files, here one that the official runtime wrote."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import rushlight as rushlight_package
from rushlight.cli.main import rushlight
from rushlight.errors import InvalidArgument, InvalidProgram, MethodNotFound
from rushlight.program import DebugRecord, read_program
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, Module, fingerprint
from rushlight.run.cases import load_case
from rushlight.trace.profile import Event, origins_of, profile, read_events

OFFICIAL = Path(__file__).parents[2] / "interop" / "etrecord_etdump" / "etdump.etdp"


def test_events_of_an_official_file_have_its_names_and_times() -> None:
    events = read_events(OFFICIAL)
    assert [event.name for event in events] == [
        "Method::init",
        "Program::load_method",
        *["native_call_convolution.out", "OPERATOR_CALL"],
        *["native_call_relu.out", "OPERATOR_CALL"],
        *["native_call_convolution.out", "OPERATOR_CALL"],
        "Method::execute",
    ]
    assert [(event.chain, event.instruction) for event in events[1:4]] == [(-1, 0), (0, 0), (0, 0)]
    assert all(0 < event.start <= event.end for event in events)


def test_a_profile_has_a_line_for_each_instruction() -> None:
    result = profile(read_events(OFFICIAL))
    assert [(item.instruction, item.name, item.calls) for item in result.operators] == [
        (0, "convolution.out", 1),
        (1, "relu.out", 1),
        (2, "convolution.out", 1),
    ]
    assert sum(item.share for item in result.operators) == pytest.approx(1)
    assert result.runs == 1
    assert sum(item.total for item in result.operators) <= result.execute


def test_the_command_prints_a_table_json_and_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown = CliRunner().invoke(rushlight, ["profile", str(OFFICIAL), "--html", str(page)])
    assert shown.exit_code == 0 and "relu.out" in shown.output
    assert page.read_text().count("<tr><td") == 3
    listed = CliRunner().invoke(rushlight, ["profile", str(OFFICIAL), "--json"])
    assert [item["name"] for item in json.loads(listed.output)["operators"]][1] == "relu.out"


def instructions_of_a_board() -> list[Event]:
    """Events of two executions of one call, as an emulated board records them."""
    events = [Event("Default [instructions]", "Program::load_method", "", -1, 0, 1_000, 41_000)]
    for start in (50_000, 150_000):
        events += [
            Event(
                "Execute [instructions]", "native_call_mm.out<b>\x1b", "", 0, 0, start + 200, start + 74_000
            ),
            Event("Execute [instructions]", "OPERATOR_CALL", "", 0, 0, start + 100, start + 75_100),
            Event("Execute [instructions]", "Method::execute", "", -1, 0, start, start + 80_000),
        ]
    return events


def test_a_trace_in_instructions_is_shown_in_instructions(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("rushlight.cli.profile.read_events", lambda _path: instructions_of_a_board())
    page = tmp_path / "page.html"
    shown = CliRunner().invoke(rushlight, ["profile", "a.etdp", "--html", str(page)])
    assert "instructions per call" in shown.output and "75,000" in shown.output and "ms" not in shown.output
    said = "80,000 instructions; loading 40,000 instructions; of the emulated core, which knows no time"
    assert said in shown.output and said in page.read_text() and "2 runs" in shown.output
    assert (
        ">75,000</td>" in page.read_text()
        and ">100.0 %</td>" in page.read_text()
        and " ms" not in page.read_text()
    )
    listed = json.loads(CliRunner().invoke(rushlight, ["profile", "a.etdp", "--json"]).output)
    assert (listed["unit"], listed["execute"], listed["operators"][0]["total"]) == (
        "instructions",
        160_000,
        150_000,
    )
    assert profile(read_events(OFFICIAL)).unit == "ns"


def test_names_in_a_page_are_text(tmp_path: Path) -> None:
    page = profile(instructions_of_a_board()).to_html()
    assert "mm.out&lt;b&gt;\\x1b" in page and "\x1b" not in page


def test_files_that_are_no_trace_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="No such file"):
        read_events(tmp_path / "absent.etdp")
    file = tmp_path / "cut.etdp"
    data = OFFICIAL.read_bytes()
    for size in (0, 7, 11):
        file.write_bytes(data[:size])
        with pytest.raises(InvalidProgram, match="ED00"):
            read_events(file)
    file.write_bytes(data[:-8])
    with pytest.raises(InvalidProgram, match="bytes expected"):
        read_events(file)


def test_altered_files_end_in_an_error_or_a_result(tmp_path: Path) -> None:
    data = OFFICIAL.read_bytes()
    file = tmp_path / "altered.etdp"
    for position in range(4, len(data), 3):
        file.write_bytes(data[:position] + b"\xff" + data[position + 1 :])
        with contextlib.suppress(InvalidProgram):
            profile(read_events(file)).to_html()


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The program of the trace with a debug record beside it."""
    model = tmp_path / "model.pte"
    shutil.copy(OFFICIAL.with_name("model.pte"), model)
    origins = [
        InstructionOrigin(index, frames=(Frame("net.py", line, "forward", code),), modules=(Module(*module),))
        for index, line, code, module in [
            (0, 7, "x = self.stem(x)", ("stem", "Conv2d")),
            (1, 8, "x = x.relu()", ("", "Net")),
            (2, 9, "return self.head(x)", ("head", "Conv2d")),
        ]
    ]
    record = DebugRecord(fingerprint(read_program(model)), (MethodOrigins("forward", tuple(origins)),))
    record.save(tmp_path / "model.debug.json")
    return model


def test_with_a_debug_record_each_line_has_its_source_and_module(recorded: Path) -> None:
    result = profile(read_events(OFFICIAL), origins_of(recorded))
    assert [item.source for item in result.operators] == [
        "net.py:7: x = self.stem(x)",
        "net.py:8: x = x.relu()",
        "net.py:9: return self.head(x)",
    ]
    modules = result.modules()
    assert {name for name, _, _ in modules} == {"stem (Conv2d)", "(Net)", "head (Conv2d)"}
    assert sum(share for _, _, share in modules) == pytest.approx(1)
    assert [total for _, total, _ in modules] == sorted((t for _, t, _ in modules), reverse=True)
    assert profile(read_events(OFFICIAL)).modules() == []


def test_the_command_takes_the_model_that_was_run(recorded: Path) -> None:
    shown = CliRunner().invoke(rushlight, ["profile", str(OFFICIAL), "--model", str(recorded)])
    assert shown.exit_code == 0 and "self.stem(x)" in shown.output and "head (Conv2d)" in shown.output
    listed = CliRunner().invoke(rushlight, ["profile", str(OFFICIAL), "--model", str(recorded), "--json"])
    assert json.loads(listed.output)["operators"][1]["source"] == "net.py:8: x = x.relu()"


def test_a_model_without_its_record_is_told(tmp_path: Path, recorded: Path) -> None:
    with pytest.raises(InvalidArgument, match="expected a debug record"):
        origins_of(OFFICIAL.with_name("model.pte"))
    with pytest.raises(MethodNotFound):
        origins_of(recorded, "backward")


DELEGATED = Path(__file__).parents[2] / "interop" / "model_dscnn"


def traced(folder: Path) -> Path:
    """The trace of two executions of a program whose convolutions were lowered to XNNPACK."""
    program = rushlight_package.load(DELEGATED / "model_xnnpack.pte", enable_etdump=True)
    (call, *_) = load_case(DELEGATED / "case.json").calls
    for _ in range(2):
        program.run(call.method, call.inputs)
    program.write_etdump_result_to_file(folder / "trace.etdp")
    return folder / "trace.etdp"


@pytest.mark.heavy
def test_a_delegates_nodes_are_below_its_instruction_with_the_exporters_handles(tmp_path: Path) -> None:
    events = read_events(traced(tmp_path))
    result = profile(events)
    assert [item.name for item in result.operators] == ["DELEGATE_CALL", "mean.out", "DELEGATE_CALL"]
    first, mean, last = (item.nodes for item in result.operators)
    names = [f"convolution_act.clamp_out #{number}" for number in range(1, 10)]
    assert [node.name for node in first] == ["permute_copy.out #1", *names, "permute_copy.out #2"]
    # As the official runtime names its own: 11 nodes, then 2.
    assert [node.debug_handle for node in first] == [None, *range(1, 26, 3), None]
    assert mean == () and [(node.name, node.debug_handle) for node in last] == [
        ("linear_act.clamp_out #1", 29),
        ("_softmax.out #1", 30),
    ]
    for item in result.operators:
        assert item.calls == 2 and all(node.calls == 2 for node in item.nodes)
        assert 0 <= sum(node.total for node in item.nodes) <= item.total
    whole = json.loads(json.dumps(result.to_json()))["operators"][0]["nodes"][1]
    assert whole["debug_handle"] == 1 and whole["name"] == names[0]
    page = result.to_html()
    assert page.count("<tr><td") == 3 + 13 and "clamp_out #9" in page


@pytest.mark.heavy
def test_the_command_shows_a_delegates_nodes(tmp_path: Path) -> None:
    shown = CliRunner().invoke(rushlight, ["profile", str(traced(tmp_path))])
    assert shown.exit_code == 0
    assert (
        "convolution_act.clamp_out #9 (handle 25)" in shown.output and "permute_copy.out #2 " in shown.output
    )


def test_handles_are_read_from_metadata_that_is_text() -> None:
    def event(metadata: str) -> Event:
        return Event("Execute", "", "node", 0, 0, 1, 2, metadata)

    call = Event("Execute", "DELEGATE_CALL", "", 0, 0, 0, 3)
    for metadata, handle in (
        ("debug_handle=7", 7),
        ("a=1 debug_handle=12 b", 12),
        ("", None),
        ("\ufffd", None),
        ("debug_handle=x", None),
        ("xdebug_handle=7", None),
    ):
        (item,) = profile([event(metadata), call]).operators
        assert [node.debug_handle for node in item.nodes] == [handle], metadata
