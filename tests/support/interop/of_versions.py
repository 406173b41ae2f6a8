# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the files of tests/interop/of_versions, which versions of the official package wrote."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import rushlight
from rushlight.errors import RushlightError
from rushlight.program import read_data_file
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.trace.profile import read_events

INTEROP = Path(__file__).resolve().parents[2] / "interop"
FOLDER = INTEROP / "of_versions"
FILES = FOLDER / "files"
README = INTEROP / "README.md"

CONSTANTS = {"get_number": 123, "get_name": "hello", "get_small": 1e-5, "get_flag": True}
"""Methods of the program that return a scalar or a string."""

EVENTS = [
    ("Program::load_method", -1, -1, 10, 1 << 40),
    ("native_call_add.out", 0, 0, 1000, 1001),
    ("OPERATOR_CALL", 0, 0, 999, 1002),
    ("Method::execute", -1, -1, 998, 1003),
]
"""Events of a record: name, chain, instruction, begin and end."""

BUNDLED_CALLS = 2

Row = dict[str, str]
"""A version of executorch, one of flatbuffers, and by kind the names of files; equal ones are kept once."""


def rows() -> list[Row]:
    """All rows of the table."""
    listed: list[Row] = json.loads((FOLDER / "made.json").read_text())
    return listed


def _run(model: Path, data_files: tuple[Path, ...] = ()) -> str:
    case = dataclasses.replace(load_case(FOLDER / "calls.json"), data_files=data_files)
    return "; ".join(call.comparison.reason for call in run(model, case).calls if call.comparison.reason)


def check_program(row: Row) -> str:
    """Checks calls that share state, and methods that return constants."""
    program = rushlight.load(FILES / row["model.pte"])
    given = {name: program.run(name, [])[0] for name in CONSTANTS}
    return _run(FILES / row["model.pte"]) or ("" if given == CONSTANTS else f"gives {given}")


def check_data(row: Row) -> str:
    """Checks a program whose constants are in a data file."""
    data = FILES / row["weights.ptd"]
    held = read_data_file(data).entry("layer.bias").array().tolist()
    return _run(FILES / row["external.pte"], (data,)) or ("" if held == [0, 0.25, 0.5] else f"holds {held}")


def check_bundled(row: Row) -> str:
    """Checks a bundled program by its own expected outputs."""
    calls = rushlight.verify_bundled_program(FILES / row["model.bpte"], rtol=1e-5, atol=1e-6).calls
    if len(calls) != BUNDLED_CALLS:
        return f"{BUNDLED_CALLS} calls expected, got {len(calls)}"
    return "; ".join(call.comparison.reason for call in calls if call.comparison.reason)


def check_events(row: Row) -> str:
    """Checks a record of events."""
    read = read_events(FILES / row["events.etdp"])
    found = [(event.name, event.chain, event.instruction, event.start, event.end) for event in read]
    return "" if found == EVENTS else f"holds {found}"


CHECKS: dict[str, Callable[[Row], str]] = {
    ".pte": check_program,
    ".ptd": check_data,
    ".bpte": check_bundled,
    ".etdp": check_events,
}
"""The check of each kind of file: it returns a text that describes the error, empty if there is none."""


def outcome(row: Row, kind: str) -> str:
    """The table's cell for a pair of versions."""
    try:
        wrong = CHECKS[kind](row)
    except RushlightError as error:
        wrong = f"refused: {error.message}"
    return wrong or "same numbers"


def table() -> tuple[str, bool]:
    """The table, and True if all files are right."""
    lines = [f"| executorch | flatbuffers | {' | '.join(CHECKS)} |", "|---" * (2 + len(CHECKS)) + "|"]
    found = {(row["executorch"], row["flatbuffers"]): [outcome(row, k) for k in CHECKS] for row in rows()}
    lines += [f"| {' | '.join([*versions, *outcomes])} |" for versions, outcomes in found.items()]
    good = all(text == "same numbers" for outcomes in found.values() for text in outcomes)
    return "\n".join(lines) + "\n", good
