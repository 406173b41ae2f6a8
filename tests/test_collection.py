# SPDX-License-Identifier: BSD-3-Clause
"""pytest, as pyproject.toml configures it, collects every test file of the checkout."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from rushlight import process

ROOT = Path(__file__).resolve().parents[1]

# Names the files that pytest would import, without importing them.
RECORD = """
import json, sys
import pytest

class Unread(pytest.File):
    def collect(self):
        return []

class Recorder:
    def __init__(self):
        self.paths = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path, parent):
        self.paths.append(str(module_path))
        return Unread.from_parent(parent, path=module_path)

recorder = Recorder()
pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[2:]], plugins=[recorder])
open(sys.argv[1], "w").write(json.dumps(recorder.paths))
"""


def files_of_tests() -> set[Path]:
    """Every test_*.py of the checkout, outside of build output and environments."""
    generated = {"build", "dist", "out", "rushlight-build"}
    found = set()
    for folder, folders, files in os.walk(ROOT):
        here = Path(folder)
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and not (here / name / "pyvenv.cfg").is_file()
            and not (here == ROOT and name in generated)
        ]
        found |= {here / name for name in files if name.startswith("test_") and name.endswith(".py")}
    return found


@pytest.mark.parametrize("words", [[], ["."]], ids=["no words", "the checkout"])
def test_every_test_file_is_collected(words: list[str], tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    # Without the words that this run of pytest was given.
    environment = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    process.run([sys.executable, "-c", RECORD, seen, *words], cwd=ROOT, env=environment, check=True)
    collected = {Path(path) for path in json.loads(seen.read_text())}
    assert len(collected) > 200
    assert collected == files_of_tests()
