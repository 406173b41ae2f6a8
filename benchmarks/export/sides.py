# SPDX-License-Identifier: BSD-3-Clause
"""The two exporters behind one interface."""

from __future__ import annotations

import gc
import logging
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIDES = ("official", "rushlight")


def quiet() -> None:
    """Suppresses the warnings of the measured packages."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def exporter(side: str) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Returns a function from a module and its inputs to an exported program with the file as `buffer`."""
    if side == "rushlight":
        import rushlight.export

        return rushlight.export
    import torch
    from executorch.exir import to_edge

    def export(module: Any, args: tuple[Any, ...]) -> Any:
        program = torch.export.export(module, args, strict=False)
        with torch.no_grad():  # its passes write to buffers, which parameters with gradients would forbid
            return to_edge(program).to_executorch()

    return export


def save(side: str, made: Any, path: Path) -> None:
    """Writes an exported program in the manner of each side that takes the least memory."""
    if side == "rushlight":
        made.save(path)
    else:
        with path.open("wb") as file:
            made.write_to_file(file)


@dataclass(frozen=True)
class Seconds:
    """Times of one export."""

    cpu: float
    wall: float


def timed(side: str, module: Any, args: tuple[Any, ...]) -> tuple[Seconds, bytes]:
    """Times one export up to the bytes of the file. Earlier garbage is collected before."""
    export = exporter(side)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    data = export(module, args).buffer
    return Seconds(time.process_time() - cpu, time.perf_counter() - wall), bytes(data)


@dataclass(frozen=True)
class Program:
    """The contents of a file: bytes of the file and of planned memory, number of instructions."""

    bytes: int
    planned: int
    instructions: int

    @classmethod
    def of(cls, data: bytes) -> Program:
        """Reads a program of either side with rushlight."""
        from rushlight.program import read_program

        method = read_program(data).method("forward")
        return cls(len(data), sum(method.buffer_sizes), len(method.instructions))


def resident(what: str) -> int:
    """Bytes of this process: `VmRSS` is the current value, `VmHWM` the highest since `forget_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status: expected a line {what}, got none")


def forget_peak() -> None:
    """Resets `VmHWM`."""
    file = os.open("/proc/self/clear_refs", os.O_WRONLY)
    os.write(file, b"5")
    os.close(file)
