# SPDX-License-Identifier: BSD-3-Clause
"""What is to be exported, and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight import targets
from rushlight.errors import InvalidArgument
from rushlight.export.quantized_io import QuantizedIo

Progress = Callable[[str, float], None]
RUNTIMES = ("rushlight", "executorch")
AUTO = "auto"


@dataclass(frozen=True)
class MethodSource:
    """One method to be: a module with example inputs, or an ExportedProgram (then the rest is not used)."""

    module: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    dynamic_shapes: Any = None


@dataclass(frozen=True)
class Options:
    """How methods become a program; see `rushlight.export.export` for each."""

    target: str | None = None
    runtime: str = "rushlight"
    passes: Any = None
    keep: Sequence[Any] = ()
    memory: Any = None
    planner: str = "auto"
    plan_inputs: bool = True
    plan_outputs: bool = True
    partitioner: Any = None
    external: bool | Callable[[str], bool] = False
    strict: bool = False
    built: Mapping[str, Collection[str]] | None = None
    backends: Collection[str] | None = None
    operators: Any = None
    custom_ops: Sequence[Any] = ()
    channels_last: bool | str = AUTO
    quantize_io: bool | str | QuantizedIo = False
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.runtime not in RUNTIMES:
            raise InvalidArgument(f"runtime: one of {', '.join(RUNTIMES)} expected, got '{self.runtime}'")
        if not isinstance(self.channels_last, bool) and self.channels_last != AUTO:
            raise InvalidArgument(
                f"channels_last: True, False or '{AUTO}' expected, got {self.channels_last!r}"
            )

        QuantizedIo.of(self.quantize_io)

    @property
    def channels_last_for(self) -> str:
        """Which convolutions are to run channels-last: "all", those of "integers", or "none". On RISC-V
        boards float kernels are faster channels-first, the official runtime's are no faster channels-last."""
        if self.channels_last != AUTO:
            return "all" if self.channels_last else "none"
        if self.runtime != "rushlight":
            return "none"
        return "integers" if self.is_for_riscv_boards else "all"

    @property
    def is_for_riscv_boards(self) -> bool:
        """Whether the target is a RISC-V board."""
        if self.target is None:
            return False
        target = targets.get(self.target)
        return target.kind == "bare-metal" and target.name.startswith("rv")

    def is_external(self, name: str) -> bool:
        """Whether the data of a constant of that name goes into a data file."""
        return self.external(name) if callable(self.external) else bool(self.external)
