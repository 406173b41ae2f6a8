# SPDX-License-Identifier: BSD-3-Clause
"""What an export did: operators, constants, memory, time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rushlight.export.arithmetic import Arithmetic
from rushlight.export.pipeline import PassRun
from rushlight.export.quantized_io import MethodNumbers
from rushlight.lowered.instructions import Origin
from rushlight.memory import Plan
from rushlight.memory.picture import picture
from rushlight.memory.report import summary, to_json
from rushlight.program.model import Method


@dataclass(frozen=True)
class MethodReport:
    """One method: its plan, its passes, seconds by stage, and what passes remark: why a quantized part
    computes in float, say. `numbers`: what integer inputs and outputs stand for. `arithmetic`:
    for a quantized graph, which operators compute in integers."""

    name: str
    method: Method
    plan: Plan
    passes: list[PassRun]
    seconds: dict[str, float]
    origins: list[Origin] = field(repr=False)
    remarks: list[str] = field(default_factory=list)
    numbers: MethodNumbers = field(default_factory=lambda: MethodNumbers({}, {}))
    arithmetic: list[Arithmetic] = field(default_factory=list)

    @property
    def operators(self) -> dict[str, int]:
        """How often each operator is called, most first."""
        return dict(Counter(name for name, _ in self.method.calls()).most_common())

    def memory_summary(self) -> list[str]:
        """Lines that tell the planned memory: each bank's, and all of it beside its lower bound."""
        return summary(self.plan)

    def to_json(self) -> dict[str, Any]:
        """The report in JSON's types."""
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
    """The whole program."""

    methods: list[MethodReport]
    seconds: float
    constant_bytes: int = 0
    external_bytes: int = 0
    file_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        """The report in JSON's types."""
        return {
            "methods": [method.to_json() for method in self.methods],
            "constant_bytes": self.constant_bytes,
            "external_bytes": self.external_bytes,
            "file_bytes": self.file_bytes,
            "seconds": self.seconds,
        }

    def picture(self) -> str:
        """The memory plans of all methods, as SVG."""
        return picture({method.name: method.plan for method in self.methods})
