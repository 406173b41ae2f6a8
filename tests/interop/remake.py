# SPDX-License-Identifier: BSD-3-Clause
"""Make the programs of this folder again with the official package, into another folder.

    pip install torch==2.13.0 executorch==1.5.1 numpy
    pip install --no-deps tosa-tools     # for cortex_m_*: their quantizer imports it
    python tests/interop/remake.py OUT [CASE...]

Each case is made like the one here: the same operators on the same shapes, other weights and inputs.
With rushlight on the path (PYTHONPATH=python) each program is compared with the one here, and the exit
code is 1 if their methods, operators, constants or memory differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from developer_files import write_bundled, write_events

from support.interop.cases import CASES
from support.interop.official import write_case

HERE = Path(__file__).parent

# Intermediate tensors of a run in 1 MB, most of it empty.
NOT_KEPT = {"debug.bin"}

# These folders have no case.json.
OTHERS: dict[str, Callable[[Path], None]] = {"bundled": write_bundled, "etrecord_etdump": write_events}


def make(name: str, out: Path) -> None:
    """Write the folder of a case."""
    torch.manual_seed(0)
    if name in OTHERS:
        (out / name).mkdir(parents=True, exist_ok=True)
        OTHERS[name](out / name)
    else:
        write_case(name, CASES[name](), out / name)


def differences(name: str, out: Path) -> list[str]:
    """The differences of the files and of the programs' descriptions from the stored ones."""
    files = [{path.name for path in (folder / name).iterdir()} - NOT_KEPT for folder in (out, HERE)]
    found = [f"{name}: files {sorted(files[0])}, here {sorted(files[1])}"] if files[0] != files[1] else []
    for path in sorted((out / name).glob("*.pte")):
        new, old = (_describe(folder / name / path.name) for folder in (out, HERE))
        found += [
            f"{name}/{path.name}: {key}: {new.get(key)}, here {old.get(key)}"
            for key in sorted(new.keys() | old.keys())
            if new.get(key) != old.get(key)
        ]
    return found


def _describe(path: Path) -> dict[str, Any]:
    """The methods of a program by name, and its segments' number."""
    from rushlight.program import describe, read_program

    described = describe(read_program(path))
    methods = {method["name"]: method for method in described["methods"]}
    if path.name == "model_xnnpack.pte":  # the payload's size depends on the weights
        for method in methods.values():
            for delegate in method["delegates"]:
                del delegate["bytes"]
    return {"version": described["version"], "segments": len(described["segments"]), **methods}


def main() -> int:
    """Make the named cases, or all."""
    names = [*CASES, *OTHERS]
    parser = argparse.ArgumentParser(description="Make interop programs with the official package.")
    parser.add_argument("out", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(names))
    options = parser.parse_args()
    found: list[str] = []
    for name in options.cases or names:
        make(name, options.out)
        found += differences(name, options.out)
    print("\n".join(found) or "all as they were")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
