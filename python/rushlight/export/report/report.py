# SPDX-License-Identifier: BSD-3-Clause
"""The report of an export: operators, constants, memory, time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rushlight.export.arithmetic import Arithmetic
from rushlight.export.pipeline import PassRun
from rushlight.export.quantized_io import MethodQuantization
from rushlight.lowered.instructions import Origin
from rushlight.memory import Plan
from rushlight.memory.picture import picture
from rushlight.memory.report import summary, to_json
from rushlight.program.model import Method


@dataclass(frozen=True)
class MethodReport:
    """The report of one method: memory plan, passes, seconds per stage, and remarks of passes, such as why a
    quantized call computes in float. `numbers` has the parameters of integer inputs and outputs;
    `arithmetic` classifies the operators of a quantized graph."""

    name: str
    method: Method
    plan: Plan
    passes: list[PassRun]
    seconds: dict[str, float]
    origins: list[Origin] = field(repr=False)
    remarks: list[str] = field(default_factory=list)
    numbers: MethodQuantization = field(default_factory=lambda: MethodQuantization({}, {}))
    arithmetic: list[Arithmetic] = field(default_factory=list)

    @property
    def operators(self) -> dict[str, int]:
        """The number of calls of each operator, most frequent first."""
        return dict(Counter(name for name, _ in self.method.calls()).most_common())

    def memory_summary(self) -> list[str]:
        """Lines of text about the planned memory: each bank, and the total with its lower bound."""
        return summary(self.plan)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {
            "method": self.name,
            "instructions": len(self.method.instructions),
            "operators": self.operators,
            "delegates": [delegate.id for delegate in self.method.delegates],
            "memory": to_json(self.plan),
            "passes": [{"name": p.name, "modified": p.modified, "seconds": p.seconds} for p in self.passes],
            "remarks": self.remarks,
            "arithmetic": [vars(each) for each in self.arithmetic],
            "quantized_io": self.numbers.to_json(),
            "seconds": self.seconds,
        }


@dataclass
class Report:
    """The report of the whole program; sizes in bytes."""

    methods: list[MethodReport]
    seconds: float
    constant_bytes: int = 0
    external_bytes: int = 0
    file_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {
            "methods": [method.to_json() for method in self.methods],
            "constant_bytes": self.constant_bytes,
            "external_bytes": self.external_bytes,
            "file_bytes": self.file_bytes,
            "seconds": self.seconds,
        }

    def picture(self) -> str:
        """The memory plans of all methods as an SVG picture."""
        return picture({method.name: method.plan for method in self.methods})
