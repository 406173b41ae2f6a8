# SPDX-License-Identifier: BSD-3-Clause
"""Files of subjects, kept in a folder between runs while their sources and packages are unchanged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from contestants import CONTESTANTS
from crew import Failed, WorkerProcess

_HERE = Path(__file__).parent
_SOURCES = ("operators.py", "quantized.py", "making.py")
_OWN = "rushlight.pte"  # exported anew each time, since our exporter changes between runs
_SUBJECT = ("subject.json", "inputs.npz", "expected.npz")


def folder_for(work: Path, packages: Mapping[str, str]) -> Path:
    """A folder below `work` for these sources and package versions."""
    sources = [*sorted(_HERE.glob("networks/**/*.py")), *(_HERE / name for name in _SOURCES)]
    digest = hashlib.sha256(json.dumps(dict(packages), sort_keys=True).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return work / digest.hexdigest()[:12]


def file_name(name: str) -> str:
    """The folder of a subject below that of `folder_for`."""
    return name.replace(" ", "_").replace("/", "_")


def prepare(
    name: str, folder: Path, names: Collection[str], own: WorkerProcess, peers: WorkerProcess
) -> dict[str, str]:
    """Writes the missing files that the contestants `names` load. Returns the reason for each contestant
    whose files are missing.

    Error: Failed if the subject itself cannot be prepared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not all((folder / file).is_file() for file in _SUBJECT):
        own.ask("make_subject", name, str(folder))
    reasons: dict[str, str] = {}
    for file in dict.fromkeys(file for each in names for file in CONTESTANTS[each].files):
        if file not in _SUBJECT and (reason := _make(name, folder, file, own, peers)):
            reasons[file] = reason
    missing = {}
    for each in names:
        files = CONTESTANTS[each].files
        if not any((folder / file).is_file() for file in files):
            missing[each] = "; ".join(reasons[file] for file in files)
    return missing


def _make(name: str, folder: Path, file: str, own: WorkerProcess, peers: WorkerProcess) -> str:
    """Writes a file unless it exists. Returns the reason if it is missing, else ""."""
    failure = folder / f"{file}.failed"
    if file == _OWN:
        (folder / file).unlink(missing_ok=True)
    elif (folder / file).is_file():
        return ""
    elif failure.is_file():
        return failure.read_text()
    try:
        (own if file == _OWN else peers).ask("make_file", name, str(folder), file)
        return ""
    except Failed as error:
        (folder / file).unlink(missing_ok=True)
        reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else "no reason given"
        if file != _OWN:
            failure.write_text(reason)
        return reason
