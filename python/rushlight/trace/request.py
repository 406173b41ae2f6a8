# SPDX-License-Identifier: BSD-3-Clause
"""Requests a trace from a runner, and copies the resulting files."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import InvalidArgument

_EVENTS = "trace.etdp"
_VALUES = "trace.bin"


@dataclass(frozen=True)
class TraceRequest:
    """The files of a run's trace: events are written to `etdump`, operators' outputs to `debug_output` if
    given.

    The sizes are the memory in bytes in which a target collects events and values (default: 64 KiB and 256
    KiB); the rest is dropped and counted. Hosts allocate memory as needed, up to `debug_size` for values.
    """

    etdump: Path
    etdump_size: int | None = None
    debug_output: Path | None = None
    debug_size: int | None = None

    def defines(self) -> dict[str, str]:
        """CMake definitions for a runner with tracing."""
        return {"EXECUTORCH_ENABLE_EVENT_TRACER": "ON"}

    def arguments(self) -> list[str]:
        """The runner's options; the files are in its working folder."""
        words = [f"--etdump={_EVENTS}"]
        if self.etdump_size is not None:
            words.append(f"--etdump_size={self.etdump_size}")
        if self.debug_output is not None:
            words.append(f"--debug_output={_VALUES}")
        if self.debug_size is not None:
            words.append(f"--debug_size={self.debug_size}")
        return words

    def collect(self, folder: Path) -> None:
        """Copies the runner's files from `folder` to their destinations. Error: InvalidArgument for a
        destination that cannot be written."""
        for name, target in ((_EVENTS, self.etdump), (_VALUES, self.debug_output)):
            if target is None or not (folder / name).is_file():
                continue
            try:
                shutil.copyfile(folder / name, target)
            except OSError as error:
                raise InvalidArgument(f"trace {target}: {error.strerror}") from error


@dataclass(frozen=True)
class TraceLoss:
    """The number of events and values dropped because their memory was full."""

    events: int = 0
    values: int = 0
