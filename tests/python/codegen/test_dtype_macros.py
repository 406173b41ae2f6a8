# SPDX-License-Identifier: BSD-3-Clause
"""The macros over sets of dtypes follow the table of dtypes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushlight.codegen import dtype_macros
from rushlight.program import dtypes

ROOT = Path(__file__).resolve().parents[3]


def macros() -> dict[str, str]:
    """The body of each macro by its name."""
    text = dtype_macros.header().replace("\\\n", " ")
    return dict(re.findall(r"#define (\w+)\([^)]*\)\s+(.*)", text))


def test_every_dtype_has_the_enumerator_of_its_number() -> None:
    text = (ROOT / "runtime/tensor/scalar_type.h").read_text()
    numbers = dict(re.findall(r"^  (\w+) = (\d+),", text, re.MULTILINE))
    assert len(numbers) >= 19
    for name, number in numbers.items():
        assert dtype_macros.enumerator(dtypes.NAMES[int(number)]) == name
    listed = re.findall(r", (\w+)\)", macros()["ET_FORALL_SCALAR_TYPES"])
    assert listed == [dtype_macros.enumerator(name) for name in dtypes.NAMES.values()]
    assert len(set(listed)) == len(dtypes.NAMES)


@pytest.mark.parametrize("name", dtype_macros.SETS)
def test_every_set_is_the_same_in_all_its_macros(name: str) -> None:
    expected = [dtype_macros.enumerator(member) for member in dtype_macros.SETS[name]]
    assert len(set(expected)) == len(expected)
    found = macros()
    for suffix, added in (("", []), ("_AND", ["ADDED1"]), ("_AND3", ["ADDED1", "ADDED2", "ADDED3"])):
        calls = re.findall(r", (\w+)\)", found[f"ET_FORALL_{name}_TYPES{suffix}"])
        cases = re.findall(r"RUSHLIGHT_CASE\((\w+),", found[f"ET_INTERNAL_SWITCH_CASE_{name}_TYPES{suffix}"])
        assert calls == cases == expected + added
    for word in ("WITH", "WITH2", "AND_WITH"):
        assert found[f"ET_FORALL_{name}_TYPES_{word}"].count("_(FIRST, ") >= len(expected)


def test_sets_are_those_that_their_names_say() -> None:
    sets = {name: set(members) for name, members in dtype_macros.SETS.items()}
    assert sets["INT"] == dtypes.INTEGRAL - dtypes.UNSIGNED_WIDE
    assert sets["UINT"] == dtypes.UNSIGNED_WIDE
    assert sets["FLOATHBF16"] == dtypes.FLOATING
    assert sets["COMPLEXH"] == dtypes.COMPLEX
    assert sets["REAL"] == sets["INT"] | sets["FLOAT"]
    assert sets["REALHBBF16"] == sets["REAL"] | dtypes.FLOATING | {"bool"}
    assert sets["ALL"] == set(dtypes.NAMES.values()) - dtypes.UNSIGNED_WIDE - {
        name for name in dtypes.NAMES.values() if name.startswith("float8")
    }


def test_the_header_is_written_when_it_changes_only(tmp_path: Path) -> None:
    assert dtype_macros.main(["--out", str(tmp_path)]) == 0
    path = tmp_path / dtype_macros.HEADER
    assert path.read_text() == dtype_macros.header()
    before = path.stat().st_mtime_ns
    assert dtype_macros.main(["--out", str(tmp_path)]) == 0
    assert path.stat().st_mtime_ns == before
