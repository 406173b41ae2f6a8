# SPDX-License-Identifier: BSD-3-Clause
"""Banks are read from small files; an error in a file is reported with its line."""

from __future__ import annotations

import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from rushlight.errors import InvalidArgument
from rushlight.memory import Bank, banks, read_banks

GOOD = {"name": "sram", "size": 1024}


def test_the_documented_example_is_read(tmp_path: Path) -> None:
    documentation = inspect.getdoc(banks)
    assert documentation is not None
    file = tmp_path / "banks.yaml"
    file.write_text(textwrap.dedent(documentation.split("\n\n", 1)[1]))
    assert read_banks(file) == [Bank("dtcm", 1, 131072, 8.0), Bank("sdram", 2, 8 << 20, 1.0)]


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "memory-planning.md").read_text()
    file = tmp_path / "banks.yaml"
    file.write_text(text.split("```yaml\n")[1].split("```")[0])
    assert read_banks(file) == [Bank("dtcm", 1, 131072, 8.0), Bank("sdram", 2, 8 << 20, 1.0)]


def test_json_and_mappings_are_read(tmp_path: Path) -> None:
    content = {"banks": [{"name": "sram", "id": 3, "size": "64KiB"}, {"name": "rest"}]}
    expected = [Bank("sram", 3, 65536), Bank("rest", 2, None)]
    file = tmp_path / "banks.json"
    file.write_text(json.dumps(content))
    assert read_banks(str(file)) == read_banks(content) == expected
    assert read_banks(content["banks"]) == read_banks(expected) == expected


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"banks: expected a list of at least one bank, got \[\]"),
        (["sram"], r"banks\[0\]: expected the keys name, id, size, speed, got 'sram'"),
        ([{"size": 4}], r"banks\[0\]: name: expected a text, got None"),
        ([{**GOOD, "sise": 4}], r"banks\[0\]: expected one of name, id, size, speed, got 'sise'"),
        ([{**GOOD, "size": "4 kilo"}], r"banks\[0\] \('sram'\): size: expected bytes, .*, got '4 kilo'"),
        ([{**GOOD, "size": -4}], r"size: expected .*, got -4"),
        ([{**GOOD, "size": True}], r"size: expected .*, got True"),
        ([{**GOOD, "id": 0}], r"banks\[0\] \('sram'\): id: expected an integer from 1 to 255, got 0"),
        ([{**GOOD, "speed": 0}], r"speed: expected a number above 0, got 0"),
        ([{**GOOD, "speed": float("nan")}], r"speed: expected a number above 0, got nan"),
        ([GOOD, GOOD], r"banks\[1\]: name: expected a unique value, got 'sram' again"),
        ([{**GOOD, "id": 2}, {"name": "b"}], r"banks\[1\]: id: expected a unique value, got 2 again"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, rows: list[Any], message: str) -> None:
    file = tmp_path / "banks.yaml"
    file.write_text(json.dumps({"banks": rows}).replace("NaN", ".nan"))
    with pytest.raises(InvalidArgument, match=rf"banks\.yaml: .*{message}"):
        read_banks(file)


def test_banks_made_by_hand_are_distinct_too() -> None:
    with pytest.raises(InvalidArgument, match=r"banks: banks\[1\]: id: expected a unique value, got 1"):
        read_banks([Bank("a", 1), Bank("b", 1)])


@pytest.mark.parametrize("text", ["", "[1]", "banks: []\nmore: 1", "name: sram"])
def test_a_file_without_banks_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "banks.yaml"
    file.write_text(text)
    with pytest.raises(InvalidArgument, match=r"banks\.yaml: .*expected .*, got"):
        read_banks(file)


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "banks.yaml"
    file.write_text("banks: [")
    with pytest.raises(InvalidArgument, match=r"banks\.yaml: expected YAML"):
        read_banks(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"none\.yaml: No such file"):
        read_banks(tmp_path / "none.yaml")
