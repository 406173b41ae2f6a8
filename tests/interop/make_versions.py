# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files of of_versions/ again: `make_versions.py OUT [--wheels FOLDER]`.

    pip install torch==2.13.0 executorch==1.5.1 numpy    and rushlight

Each version of executorch, with each version of the package flatbuffers, is put in front of the others that
are installed, and writes the files of version_files.py; it needs only its Python sources and its flatc. The
exit code is 1 if a file differs from the one here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.interop.models import EveryKind, arange_calls
from support.interop.of_versions import FOLDER, Row
from support.interop.official import one, write_calls

FLATBUFFERS = ["24.3.25", "25.2.10", "25.9.23", "25.12.19"]
# Versions of executorch, with the versions of flatbuffers; before 1.2 it writes everything with flatc.
VERSIONS = {
    "1.0.1": FLATBUFFERS[1:2],
    "1.1.0": FLATBUFFERS[1:2],
    "1.2.0": FLATBUFFERS,
    "1.3.1": FLATBUFFERS,
    "1.4.1": FLATBUFFERS,
    "1.5.1": FLATBUFFERS,
}


def installed(package: str, version: str, wheels: Path) -> Path:
    """A folder with this version alone."""
    folder = wheels / f"{package}-{version}"
    if not folder.is_dir():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder]
        subprocess.run([*command, f"{package}=={version}"], check=True)
    return folder


def write_row(out: Path, executorch: str, flatbuffers: str, wheels: Path) -> Row:
    """Writes the missing files of a pair of versions."""
    front = [installed("executorch", executorch, wheels), installed("flatbuffers", flatbuffers, wheels)]
    path = os.pathsep.join([*map(str, front), os.environ.get("PYTHONPATH", "")])
    flatc = front[0] / "executorch" / "data" / "bin" / "flatc"
    environment = {**os.environ, "PYTHONPATH": path, "FLATC_EXECUTABLE": str(flatc)}
    row = {"executorch": executorch, "flatbuffers": flatbuffers}
    with tempfile.TemporaryDirectory() as temporary:
        writer = Path(__file__).with_name("version_files.py")
        subprocess.run([sys.executable, writer, temporary], env=environment, check=True)
        for file in sorted(Path(temporary).iterdir()):
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
            row[file.name] = f"{file.stem}-{digest}{file.suffix}"
            shutil.copyfile(file, out / "files" / row[file.name])
    return row


def differences(out: Path) -> list[str]:
    """Files that are not as here."""
    names = {path.relative_to(folder) for folder in (out, FOLDER) for path in folder.rglob("*.*")}
    return [
        str(name)
        for name in sorted(names)
        if name.suffix != ".npz"  # it has the time of its making
        and not (
            all((folder / name).is_file() for folder in (out, FOLDER))
            and (out / name).read_bytes() == (FOLDER / name).read_bytes()
        )
    ]


def main() -> int:
    """Make all files."""
    parser = argparse.ArgumentParser(description="Make programs with versions of the official package.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--wheels", type=Path, help="where packages are installed, and kept")
    options = parser.parse_args()
    (options.out / "files").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        wheels = (options.wheels or Path(temporary)).resolve()
        made = [write_row(options.out, e, f, wheels) for e in VERSIONS for f in VERSIONS[e]]
    (options.out / "made.json").write_text(json.dumps(made, indent=1) + "\n")
    case = one(EveryKind().eval(), *arange_calls(), note="methods of constants are in check_versions.py")
    write_calls("of_versions", case, [], options.out)
    (options.out / "case.json").rename(options.out / "calls.json")
    found = differences(options.out)
    print("\n".join(f"{name} differs" for name in found) or "all as they were")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
