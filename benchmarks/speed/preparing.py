# SPDX-License-Identifier: BSD-3-Clause
"""The files of subjects, kept in a folder from run to run as long as what they are made of is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from contestants import CONTESTANTS
from crew import Failed, WorkerProcess

_HERE = Path(__file__).parent
_SOURCES = ("operators.py", "quantized.py", "making.py")
_OWN = "rushlight.pte"  # made anew each time, as the exporter is what is worked on
_SUBJECT = ("subject.json", "inputs.npz", "expected.npz")


def folder_for(work: Path, packages: Mapping[str, str]) -> Path:
    """A folder of `work` for these sources and versions of packages."""
    sources = [*sorted(_HERE.glob("networks/*.py")), *(_HERE / name for name in _SOURCES)]
    digest = hashlib.sha256(json.dumps(dict(packages), sort_keys=True).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return work / digest.hexdigest()[:12]


def prepare(
    name: str, folder: Path, names: Collection[str], own: WorkerProcess, peers: WorkerProcess
) -> dict[str, str]:
    """Makes what the contestants `names` load and is not there yet. Gives the reason of each without.

    Error: Failed where the subject itself cannot be made.
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
    """Why there is no such file; empty if there is."""
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
