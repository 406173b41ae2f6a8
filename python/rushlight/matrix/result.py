# SPDX-License-Identifier: BSD-3-Clause
"""Results of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rushlight.errors import RushlightError

PASSED, BUILT, FAILED, NOT_RUN = "passed", "built", "failed", "not run"
"""Statuses of a cell; BUILT is the best one for a target that cannot run here."""

GOOD = (PASSED, BUILT)


@dataclass(frozen=True)
class Failure:
    """An error as JSON types: its class, message and next step."""

    type: str
    message: str
    next_step: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        if isinstance(error, RushlightError):
            return cls(type(error).__name__, error.message, error.next_step)
        return cls(type(error).__name__, str(error) or type(error).__name__)


@dataclass(frozen=True)
class Timing:
    """Seconds of one build from an empty folder: in total, of CMake's configure step, and the CPU time of all
    its processes (None if other cells ran in the same process). `hits` objects came from the compiler
    cache, `misses` were compiled; None without a cache."""

    seconds: float
    configure_seconds: float
    cpu_seconds: float | None = None
    cache: str | None = None
    hits: int | None = None
    remote_hits: int | None = None
    misses: int | None = None


@dataclass(frozen=True)
class Memory:
    """RAM in bytes: `static` data of the runner, the method's arena, all planned buffers together, the peak
    of temporary memory, and the peak of the stack (None if the target cannot measure it)."""

    static: int
    method_arena: int
    planned: int
    temporary: int
    stack: int | None = None

    @property
    def total(self) -> int:
        return self.static + self.method_arena + self.planned + self.temporary + (self.stack or 0)


@dataclass(frozen=True)
class CellResult:
    """`status` is PASSED, BUILT, FAILED (`failure` has the reason) or NOT_RUN. Fields that a failed cell did
    not reach are None.

    `compared` is False without expected outputs. `operators` maps names to dtypes. `flash` is in bytes
    without the model, which has `model_bytes` (for a baked program: its weights). The `flash` of a baked
    program on a board is for the smallest application that calls it. `instructions` and `nanoseconds` are
    medians over the calls; the target measures at least one of them. `cold` is a build with an empty
    compiler cache, measured only on request. `key` identifies everything that determines the result.
    """

    model: str
    target: str
    option: str
    kind: str
    status: str
    key: str = ""
    failure: Failure | None = None
    compared: bool | None = None
    max_error: float | None = None
    operators: dict[str, list[str]] = field(default_factory=dict)
    flash: int | None = None
    model_bytes: int | None = None
    sections: dict[str, int] = field(default_factory=dict)
    memory: Memory | None = None
    instructions: int | None = None
    nanoseconds: int | None = None
    build: Timing | None = None
    cold: Timing | None = None
    run_seconds: float | None = None
    machine: str = ""

    @property
    def name(self) -> str:
        """The name of the cell."""
        return f"{self.model}/{self.target}/{self.option}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> CellResult:
        """The inverse of to_json. Errors: TypeError, KeyError for other data."""
        kinds: dict[str, Any] = {"failure": Failure, "memory": Memory, "build": Timing, "cold": Timing}
        made = {
            name: kinds[name](**value) if name in kinds and value is not None else value
            for name, value in described.items()
        }
        return cls(**made)
