# SPDX-License-Identifier: BSD-3-Clause
"""Bundled programs held to what they say themselves."""

from __future__ import annotations

import os
from pathlib import Path

from rushlight.devtools.cases import BUNDLED_TOLERANCE, Tolerance, bundled_case
from rushlight.devtools.run import RunOutcome, run


def verify_bundled_program(
    path: str | os.PathLike[str],
    method: str | None = None,
    *,
    target: str = "host",
    rtol: float = BUNDLED_TOLERANCE.relative,
    atol: float = BUNDLED_TOLERANCE.absolute,
) -> RunOutcome:
    """Runs the cases of a .bpte, of all methods or of one, and compares what comes out with what the file
    expects: |got - expected| <= atol + rtol * |expected|. `.passed` of the result says whether all agree,
    `.calls` how far each is off. Errors: InvalidProgram, InvalidArgument (no such cases), those of running.
    """
    return run(path, bundled_case(Path(path), method, Tolerance(rtol, atol)), target=target)
