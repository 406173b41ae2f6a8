# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a program fits in the memory of a target."""

from __future__ import annotations

from rushlight import targets
from rushlight.errors import NotExportable
from rushlight.export.exported import Exported
from rushlight.run.capacity import capacity_findings


def check_capacity(exported: Exported, target: str) -> None:
    """Errors: NotExportable listing the regions that overflow; UnknownTarget."""
    findings = list(capacity_findings(exported.parts.methods, targets.get(target), exported.stored_bytes))
    if findings:
        lines = "\n".join(f"  {finding}" for finding in findings)
        raise NotExportable(
            f"program: expected one that fits on {target}, got\n{lines}",
            problems=findings,
            next_step="Shrink the model, leave inputs and outputs to the caller, or choose a larger target.",
        )
