# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that a device without logs leaves become locations and messages again."""

from __future__ import annotations

import json
import re
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
    return failures.position(path, line) | code, line


def test_the_hash_is_the_runtimes() -> None:
    # The same numbers stand in tests/runtime/base/failure_test.cpp.
    assert failures.position("runtime/executor/method.cpp", 77) == 0xBC3A3740
    assert failures.position("runtime/executor/method.cpp", 256 + 77) == 0x7C39D280


def test_a_record_becomes_a_place_and_a_message() -> None:
    path = "runtime/executor/arguments.cpp"
    record, line = record_of(path, "resizes a tensor", 0x23)
    [failure] = failures.decode([record])
    assert (failure.file, failure.name) == (path, "InvalidProgram")
    assert failure.line is not None and 0 <= line - failure.line <= 2
    assert "resizes a tensor that it also reads" in failure.message
    assert str(failure).startswith(f"InvalidProgram (0x23) at {path}:")


def test_a_number_stays_a_number() -> None:
    assert failures.decode([17 << 6])[0].number == 17


def test_a_place_that_no_source_has_is_said_to_be_unknown() -> None:
    assert "unknown location" in str(failures.decode([0x00010052])[0])


def test_a_shortage_is_told_in_bytes() -> None:
    few, many = failures.decode([40 << 6 | 0x3F, 0xFFFFFFFF])
    assert (few.short, str(few)) == (40, "40 bytes short")
    assert (many.short, str(many)) == (None, "64 MiB short, or more")
    assert failures.bytes_short([many, few]) == 40
    assert failures.bytes_short(failures.decode([40 << 6])) is None


def test_checks_whose_places_are_the_same_are_told_apart_by_their_codes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(failures, "position", lambda path, line: 0x40)
    (tmp_path / "runtime").mkdir()
    same = 'RL_CHECK(a, Error::Internal, "same; as");\n'
    other = 'RL_CHECK(b,\n         Error::NotFound, "no "\n         "b");\n'
    (tmp_path / "runtime" / "a.cpp").write_text(same + other)
    (tmp_path / "runtime" / "b.cpp").write_text(same)
    missing, either = failures.decode([0x40 | 0x20, 0x40 | 0x01], tmp_path)
    assert str(missing) == "NotFound (0x20) at runtime/a.cpp:2: no b"
    assert str(either) == "Internal (0x01) at runtime/a.cpp:1: same; as or runtime/b.cpp:1: same; as"


def test_every_check_can_be_found() -> None:
    """Decoding any line of a check gives that check."""
    count = 0
    for folder in ("runtime", "kernels"):
        for path in sorted((source_root() / folder).rglob("*.cpp")):
            shown = path.relative_to(source_root()).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if re.search(r"\bRL_CHECK\(", line):
                    [failure] = failures.decode([failures.position(shown, number) | 0x01])
                    found = f"{failure.file}:{failure.line}"
                    assert any(
                        location.startswith(f"{shown}:{number}") for location in (found, *failure.also)
                    )
                    count += 1
    assert count > 500


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
    record, _ = record_of("runtime/executor/arguments.cpp", "resizes a tensor", 0x23)
    with pytest.raises(SystemExit) as done:
        main(["decode", "failure:", f"{record:08x}", f"0x{9 << 6:x}"])
    assert done.value.code == 0
    assert capsys.readouterr().out.splitlines()[1] == "number 9"
    with pytest.raises(SystemExit):
        main(["decode", "--json", f"{record:08x}"])
    assert json.loads(capsys.readouterr().out)[0]["code"] == 0x23


def test_the_sources_are_the_packages_own() -> None:
    assert (Path(source_root()) / "runtime" / "base" / "failure.h").is_file()


def test_values_that_stayed_on_the_device_show_as_dots(tmp_path: Path) -> None:
    lines = ['  RL_CHECK(n > 0, InvalidState, "%.*s: expected %5zu bytes, 5 % more");']
    source = tmp_path / "runtime" / "a.cpp"
    source.parent.mkdir()
    source.write_text("\n".join(lines) + "\n")
    [failure] = failures.decode([failures.position("runtime/a.cpp", 1) | 0x02], tmp_path)
    assert str(failure).endswith("runtime/a.cpp:1: ...: expected ... bytes, 5 % more")
