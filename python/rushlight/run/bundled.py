# SPDX-License-Identifier: BSD-3-Clause
"""Verifies bundled programs against the expected outputs in the file."""

from __future__ import annotations

import os
from pathlib import Path

from rushlight.run.api import run
from rushlight.run.cases import Tolerance, bundled_case
from rushlight.run.outcome import RunOutcome


def verify_bundled_program(
    path: str | os.PathLike[str],
    method: str | None = None,
    *,
    target: str = "host",
    rtol: float | None = None,
    atol: float | None = None,
) -> RunOutcome:
    """Runs the cases of a .bpte, of all methods or of one, and compares the outputs with the file's: |got -
    expected| <= atol + rtol * |expected|. A tolerance that is None depends on the output's dtype (see
    rushlight.run.cases.Tolerance). `.passed` of the result is True if all outputs agree; `.calls` has the
    difference of each call.

    Errors: InvalidProgram, InvalidArgument (no such cases, a negative tolerance), the errors of running.
    """
    return run(path, bundled_case(Path(path), method, Tolerance.given(rtol, atol)), target=target)
