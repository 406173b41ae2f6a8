# SPDX-License-Identifier: BSD-3-Clause
"""Loads programs into this process with their quantized subgraphs converted to integers."""

from __future__ import annotations

import contextlib
import mmap
from pathlib import Path
from types import ModuleType
from typing import Any

from rushlight import runtime
from rushlight.errors import InvalidArgument, InvalidProgram, MissingDependency
from rushlight.integers.graph import DEQUANTIZE
from rushlight.program.bundled import is_bundled_program
from rushlight.program.container import read_frame
from rushlight.runtime.program import DataFiles, ProgramSource

_SIGN = DEQUANTIZE.encode()


def load(
    source: ProgramSource,
    *,
    integers: bool | None = None,
    module: ModuleType | None = None,
    enable_etdump: bool = False,
    **options: Any,
) -> runtime.Program:
    """Opens and verifies a program, given as a path to a .pte or as bytes. For the other options see
    rushlight.runtime.load.

    If `integers` is True, quantized subgraphs of a program from any exporter compute in integers, as in
    programs exported by rushlight: results may differ from float ones by one step of an output's scale,
    and are the same on every machine. False executes the file's own instructions. The default is True
    unless events are recorded, because events refer to instructions by their index in the file, or PyTorch
    computes the program as a reference (fallback="aten-first").

    A program without quantized subgraphs, or without convertible ones, is opened unchanged; `rushlight
    convert` prints the reasons. A converted program and its weights are held in memory, whatever
    `load_mode` says.
    """
    as_given = enable_etdump or options.get("fallback") == "aten-first"
    wanted = not as_given if integers is None else integers
    files = options.get("data_files", ())
    converted = _converted(source, module, files) if wanted else None
    how = {"module": module, "enable_etdump": enable_etdump, **options}
    return runtime.load(source if converted is None else converted, **how)


def _converted(source: ProgramSource, module: ModuleType | None, data_files: DataFiles) -> bytes | None:
    """The bytes of the converted program; None to open the source unchanged. That includes unreadable
    programs, for which the runtime reports the error."""
    with contextlib.suppress(InvalidProgram, InvalidArgument, MissingDependency, OSError, ValueError):
        data = _mapped(source)
        if _names_quantization(data):
            # Imported only when needed: the import takes longer than opening a program.
            from rushlight.convert.built import converted_for

            return converted_for(memoryview(data), module, data_files)
    return None


def _mapped(source: ProgramSource) -> bytes | bytearray | mmap.mmap:
    """The program's bytes; a file is memory-mapped, so only the pages that are searched are read."""
    if isinstance(source, memoryview):
        return source.tobytes()
    if isinstance(source, (bytes, bytearray)):
        return source
    with Path(source).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _names_quantization(data: bytes | bytearray | mmap.mmap) -> bool:
    """True if the program part of a file (without segments) contains the name of a dequantizing operator."""
    view = memoryview(data)
    end = len(view) if is_bundled_program(view[:8]) else read_frame(view).program_size
    return data.find(_SIGN, 0, end) >= 0
