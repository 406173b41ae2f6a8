# SPDX-License-Identifier: BSD-3-Clause
"""Files that versions of executorch wrote with versions of flatbuffers load and give PyTorch's results."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rushlight.program import read_program
from rushlight.program.flatbuffer import Table
from support import written
from support.interop.of_versions import CHECKS, FILES, README, Row, rows, table

pytestmark = pytest.mark.conformance

LARGEST = 100_000


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['executorch']}-{row['flatbuffers']}")
def test_a_file_of_any_version_gives_what_pytorch_gives(row: Row, kind: str) -> None:
    assert CHECKS[kind](row) == ""


def _fields_beyond_their_tables(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of fields beyond the size that their table's vtable states."""
    beyond = 0
    original = Table._field

    def field(self: Table, slot: int, name: str, size: int) -> int:
        nonlocal beyond
        position = original(self, slot, name, size)
        (stated,) = struct.unpack_from("<H", self.buffer.data, self.vtable + 2)
        beyond += position != 0 and position + size > self.position + stated
        return position

    with monkeypatch.context() as patched:
        patched.setattr(Table, "_field", field)
        read_program(path)
    return beyond


def test_the_files_of_older_packages_share_vtables_between_tables_of_two_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newest = ("25.12.19",)
    for row in rows():
        beyond = _fields_beyond_their_tables(FILES / row["model.pte"], monkeypatch)
        written_in_python = row["executorch"] >= "1.2"
        assert (beyond > 0) == (written_in_python and row["flatbuffers"] not in newest), row


def test_every_file_is_in_the_table_and_small() -> None:
    named = {row[key] for row in rows() for key in row if "." in key}
    files = list(FILES.iterdir())
    assert {path.name for path in files} == named
    assert sum(path.stat().st_size for path in files) < LARGEST


def test_the_readme_has_the_table() -> None:
    [part] = [part for part in written.parts(README.read_text()) if part.name == "of-versions"]
    found, good = table()
    assert good
    assert part.text == found.strip()
