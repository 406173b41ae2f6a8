# SPDX-License-Identifier: BSD-3-Clause
"""Options and sources of an export."""

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
FALLBACK = "aten"


@dataclass(frozen=True)
class MethodSource:
    """The source of one method: a module with example inputs, or an ExportedProgram (args, kwargs and
    dynamic_shapes are then ignored)."""

    module: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    dynamic_shapes: Any = None


@dataclass(frozen=True)
class Options:
    """The options of an export; `rushlight.export.export` documents each. Errors: InvalidArgument for an
    unknown runtime, channels_last, quantize_io or fallback."""

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
    fallback: str | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.runtime not in RUNTIMES:
            raise InvalidArgument(f"runtime: expected one of {', '.join(RUNTIMES)}, got '{self.runtime}'")
        if not isinstance(self.channels_last, bool) and self.channels_last != AUTO:
            raise InvalidArgument(
                f"channels_last: expected True, False or '{AUTO}', got {self.channels_last!r}"
            )
        if self.fallback not in (None, FALLBACK):
            raise InvalidArgument(f"fallback: expected None or '{FALLBACK}', got {self.fallback!r}")
        QuantizedIo.of(self.quantize_io)

    @property
    def channels_last_for(self) -> str:
        """The convolutions to run channels-last: "all", "integers" or "none". "auto" excludes float
        convolutions on RISC-V boards, whose kernels are faster channels-first, and everything for the
        official runtime, whose kernels are no faster channels-last."""
        if self.channels_last != AUTO:
            return "all" if self.channels_last else "none"
        if self.runtime != "rushlight":
            return "none"
        return "integers" if self.is_for_riscv_boards else "all"

    @property
    def is_for_riscv_boards(self) -> bool:
        """True if the target is a RISC-V board."""
        if self.target is None:
            return False
        target = targets.get(self.target)
        return target.kind == "bare-metal" and target.name.startswith("rv")

    def is_external(self, name: str) -> bool:
        """True if the constant of that name goes into a data file."""
        return self.external(name) if callable(self.external) else bool(self.external)
