# SPDX-License-Identifier: BSD-3-Clause
"""The two exporters, called alike."""

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
    """Without the warnings of the packages that are measured."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def exporter(side: str) -> Callable[[Any, tuple[Any, ...]], Any]:
    """From a module and inputs to what that side makes of them, which has the file as `buffer`."""
    if side == "rushlight":
        import rushlight.export

        return rushlight.export
    import torch
    from executorch.exir import to_edge

    def export(module: Any, args: tuple[Any, ...]) -> Any:
        program = torch.export.export(module, args, strict=False)
        with torch.no_grad():  # its passes run buffers' writes, which parameters with gradients would forbid
            return to_edge(program).to_executorch()

    return export


def save(side: str, made: Any, path: Path) -> None:
    """Writes what `exporter` made, as each side does it with the least memory."""
    if side == "rushlight":
        made.save(path)
    else:
        with path.open("wb") as file:
            made.write_to_file(file)


@dataclass(frozen=True)
class Seconds:
    """What one export took."""

    cpu: float
    wall: float


def timed(side: str, module: Any, args: tuple[Any, ...]) -> tuple[Seconds, bytes]:
    """One export up to the bytes of the file; garbage of before is collected outside of the time."""
    export = exporter(side)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    data = export(module, args).buffer
    return Seconds(time.process_time() - cpu, time.perf_counter() - wall), bytes(data)


@dataclass(frozen=True)
class Program:
    """What is in a file: bytes of the file and of planned memory, instructions."""

    bytes: int
    planned: int
    instructions: int

    @classmethod
    def of(cls, data: bytes) -> Program:
        """As rushlight reads a program of either side."""
        from rushlight.program import read_program

        method = read_program(data).method("forward")
        return cls(len(data), sum(method.buffer_sizes), len(method.instructions))


def resident(what: str) -> int:
    """Bytes of this process: `VmRSS` as it is, `VmHWM` the highest since `forget_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status: a line {what} expected")


def forget_peak() -> None:
    """From now on `VmHWM` counts anew."""
    file = os.open("/proc/self/clear_refs", os.O_WRONLY)
    os.write(file, b"5")
    os.close(file)
