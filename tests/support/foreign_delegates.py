# SPDX-License-Identifier: BSD-3-Clause
"""Programs with a delegate of an unknown backend: official ones with another id of the same length."""

from __future__ import annotations

from pathlib import Path

INTEROP = Path(__file__).parents[1] / "interop"
FOREIGN = "AcmpackBackend"
"""The id of a backend that no build has."""


def foreign_program(name: str = "model_mlp") -> bytes:
    """A case's program that was lowered to XNNPACK, for a backend that no build has."""
    data = (INTEROP / name / "model_xnnpack.pte").read_bytes()
    found = data.replace(b"XnnpackBackend\0", FOREIGN.encode() + b"\0")
    assert found != data
    return found


def foreign_file(folder: Path, name: str = "model_mlp") -> Path:
    """The program in a file of the same name."""
    path = folder / "model_xnnpack.pte"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(foreign_program(name))
    return path
