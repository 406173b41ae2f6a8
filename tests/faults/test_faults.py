# SPDX-License-Identifier: BSD-3-Clause
"""The table of seeded faults fits the sources. Running it is run.py's, see README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.faults_table import ROOT, Fault, read, told_by

FAULTS = read()
README = Path(__file__).with_name("README.md").read_text()

# Modules of the package without logic.
WITHOUT = {
    "python/rushlight/__init__",
    "python/rushlight/__main__",
    "python/rushlight/callable_module",
    "python/rushlight/errors",
    "python/rushlight/sources",
}


def folders() -> set[str]:
    """The folders of runtime, kernels, backends, package, official headers and CMake."""
    found = {"cmake", "compat", "python/bindings", "backends"}
    for top, files in (("runtime", "*.cpp"), ("kernels", "*.cpp")):
        found |= {f"{top}/{path.relative_to(ROOT / top).parts[0]}" for path in (ROOT / top).rglob(files)}
    package = ROOT / "python" / "rushlight"
    for path in package.iterdir():
        if path.suffix == ".py" or next(path.glob("*.py"), None) is not None:
            found.add(f"python/rushlight/{path.stem}")
    return found


def test_names_are_sentences_and_each_is_there_once() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) >= 40
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+){2,}", name)] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_line_of_a_fault_is_there_once_and_its_tests_are_too(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text()
    assert fault.apply(text) != text
    paths = [word for words in fault.tests for word in words if word.startswith("tests/")]
    assert paths or fault.builds
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_folder_has_a_fault() -> None:
    assert folders() - WITHOUT - {fault.folder for fault in FAULTS} == set()


def test_the_readme_tells_what_became_of_each() -> None:
    told = told_by(README)
    assert told.keys() == {fault.name for fault in FAULTS}, "run.py --write makes the table of README.md"
    tried = [by for by in told.values() if by is not None]
    seen = [by for by in tried if by]
    assert len(tried) >= 40 and f"{len(seen)} of {len(tried)} faults were seen" in README


def test_what_a_page_tells_is_read() -> None:
    page = "| a-b-c | `x.py` | `runtime_tests Arena*` |\n| d-e-f | `y.py` | **nothing** |\n"
    page += "| g-h-i | `z.py` | not tried |\n"
    assert told_by(page) == {"a-b-c": "runtime_tests Arena*", "d-e-f": "", "g-h-i": None}
