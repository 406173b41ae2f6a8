# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that a device without logs leaves become places and messages again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rushlight.cli.main import main
from rushlight.errors import InvalidArgument
from rushlight.run import failures
from rushlight.sources import source_root


def record_of(path: str, text: str, code: int) -> tuple[int, int]:
    """The record of the check in `path` that holds `text`, and its line."""
    lines = (source_root() / path).read_text().splitlines()
    line = next(number for number, content in enumerate(lines, 1) if text in content)
    return failures.file_hash(path) << 16 | (line & 0x3FF) << 6 | code, line


def test_the_hash_is_the_runtimes() -> None:
    # The same numbers stand in tests/runtime/base/failure_test.cpp.
    assert failures.file_hash("runtime/executor/method.cpp") << 16 | 77 << 6 == 0xEBA31340


def test_a_record_becomes_a_place_and_a_message() -> None:
    path = "runtime/executor/arguments.cpp"
    record, line = record_of(path, "it is to resize a tensor", 0x23)
    [failure] = failures.decode([record])
    assert (failure.file, failure.name) == (path, "InvalidProgram")
    assert failure.line is not None and 0 <= line - failure.line <= 2
    assert "it is to resize a tensor that it also reads" in failure.message
    assert str(failure).startswith(f"InvalidProgram (0x23) at {path}:")


def test_a_number_stays_a_number() -> None:
    assert failures.decode([17 << 6])[0].number == 17


def test_a_place_that_no_source_has_is_said_to_be_unknown() -> None:
    assert "unknown place" in str(failures.decode([0x00010052])[0])


def test_no_two_sources_look_alike() -> None:
    assert all(len(files) == 1 for files in failures._files_by_hash(source_root()).values())


def test_every_check_can_be_found() -> None:
    """Decoding the first line of each check gives that check."""
    for path in sorted((source_root() / "runtime").rglob("*.cpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if failures._STATEMENT.search(line):
                found = failures._statement_at(path, number & 0x3FF)
                assert found is not None and found[0] == number, (path, number)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([12 << 6], 12),
        ([0x00010052, 7 << 6, 0x00010052], 7),
        ([1 << 6, 2 << 6], 2),
        ([0x00010052], None),
        ([], None),
    ],
)
def test_the_instruction_that_failed_is_the_last_number(records: list[int], expected: int | None) -> None:
    assert failures.failed_instruction(failures.decode(records)) == expected


@pytest.mark.parametrize("word", ["", "xyz", "123456789"])
def test_what_is_no_record_is_refused(word: str) -> None:
    with pytest.raises(InvalidArgument, match="hexadecimal"):
        failures.parse([word])


def test_the_command_prints_and_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    record, _ = record_of("runtime/executor/arguments.cpp", "it is to resize", 0x23)
    with pytest.raises(SystemExit) as done:
        main(["decode", "failure:", f"{record:08x}", f"0x{9 << 6:x}"])
    assert done.value.code == 0
    assert capsys.readouterr().out.splitlines()[1] == "number 9"
    with pytest.raises(SystemExit):
        main(["decode", "--json", f"{record:08x}"])
    assert json.loads(capsys.readouterr().out)[0]["code"] == 0x23


def test_the_sources_are_the_packages_own() -> None:
    assert (Path(source_root()) / "runtime" / "base" / "failure.h").is_file()
