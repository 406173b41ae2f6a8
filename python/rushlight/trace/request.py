# SPDX-License-Identifier: BSD-3-Clause
"""Asking a runner for a trace of what it executed, and bringing the files back."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import InvalidArgument

_EVENTS = "trace.etdp"
_VALUES = "trace.bin"


@dataclass(frozen=True)
class TraceRequest:
    """Where a run's trace goes: events to `etdump`, what operators put out to `debug_output` if it is given.

    The sizes are the bytes of memory that a target collects each in, 64 KiB and 256 KiB unless given; what
    finds no room is left out and counted. This machine takes what is needed, within `debug_size` for values.
    """

    etdump: Path
    etdump_size: int | None = None
    debug_output: Path | None = None
    debug_size: int | None = None

    def defines(self) -> dict[str, str]:
        """What a runner has to be built with."""
        return {"EXECUTORCH_ENABLE_EVENT_TRACER": "ON"}

    def arguments(self) -> list[str]:
        """The runner's, for files in the folder that it runs in."""
        words = [f"--etdump={_EVENTS}"]
        if self.etdump_size is not None:
            words.append(f"--etdump_size={self.etdump_size}")
        if self.debug_output is not None:
            words.append(f"--debug_output={_VALUES}")
        if self.debug_size is not None:
            words.append(f"--debug_size={self.debug_size}")
        return words

    def collect(self, folder: Path) -> None:
        """Moves what the runner wrote in `folder` to where it was asked for. Error: InvalidArgument when a
        place cannot be written."""
        for name, place in ((_EVENTS, self.etdump), (_VALUES, self.debug_output)):
            if place is None or not (folder / name).is_file():
                continue
            try:
                shutil.copyfile(folder / name, place)
            except OSError as error:
                raise InvalidArgument(f"trace {place}: {error.strerror}") from error


@dataclass(frozen=True)
class TraceLoss:
    """How many events and values found no room in the memory for them."""

    events: int = 0
    values: int = 0
