# SPDX-License-Identifier: BSD-3-Clause
"""Findings: reasons why a program cannot run, and the error that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.errors import NotRunnable

_SHOWN = 8


@dataclass(frozen=True)
class Finding:
    """One reason why a program cannot run. `reason` is "operator", "selection", "arguments", "rank", "dtype"
    (see codegen.promise), "delegate", "device", "data" or "memory". `instruction` is the index within
    `chain`; None for findings about the whole method. `source` is the model's source line, if a debug
    record is beside the program."""

    method: str
    reason: str
    message: str
    remedy: str
    operator: str = ""
    instruction: int | None = None
    chain: int = 0
    source: str = ""

    @property
    def location(self) -> str:
        """The method and instruction, with the model's source line."""
        where = self.method
        if self.instruction is not None:
            chain = f"chain {self.chain}, " if self.chain else ""
            where += f", {chain}instruction {self.instruction}"
        return where + (f": {self.source}" if self.source else "")

    def __str__(self) -> str:
        return f"{self.location}: {self.message}; {self.remedy}"

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON types."""
        return dict(vars(self))


def raise_if_any(findings: Sequence[Finding], headline: str) -> None:
    """Error: NotRunnable, with one line for each kind of finding, followed by its instructions."""
    if not findings:
        return
    alike: dict[str, list[str]] = {}
    for finding in findings:
        alike.setdefault(f"{finding.message}; {finding.remedy}", []).append(finding.location)
    lines = []
    for what, locations in alike.items():
        lines += [f"  {what}", *(f"    {location}" for location in locations[:_SHOWN])]
        lines += [f"    and {len(locations) - _SHOWN} more"] if len(locations) > _SHOWN else []
    raise NotRunnable(f"{headline}:\n" + "\n".join(lines), findings)
