# SPDX-License-Identifier: BSD-3-Clause
"""Loads programs for this process so that their quantized parts compute in integers."""

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
    """Opens and verifies a .pte, a path or its bytes: rushlight.runtime.load, which has the other options.

    Quantized parts of the program, of whatever exporter, compute in integers where `integers` is True, which
    is as in programs that rushlight.export makes: results may be one step of an output's scale apart from
    those in float, and are the same on every machine. False runs the file's own instructions. By default
    they do where nothing records events, which name instructions by their places in the file. A program
    without quantized parts is opened as it is, and so is one of which nothing can be converted;
    `rushlight convert` says why. A converted program is held in memory with its weights, whatever `load_mode`
    says.
    """
    wanted = not enable_etdump if integers is None else integers
    files = options.get("data_files", ())
    converted = _converted(source, module, files) if wanted else None
    how = {"module": module, "enable_etdump": enable_etdump, **options}
    return runtime.load(source if converted is None else converted, **how)


def _converted(source: ProgramSource, module: ModuleType | None, data_files: DataFiles) -> bytes | None:
    """The bytes of the converted program; None for what is to be opened as it is: a program that cannot be
    read, too, as the runtime has the error."""
    with contextlib.suppress(InvalidProgram, InvalidArgument, MissingDependency, OSError, ValueError):
        data = _mapped(source)
        if _names_quantization(data):
            # Imported for programs alone that need it: it takes longer than opening one.
            from rushlight.convert.built import converted_for

            return converted_for(memoryview(data), module, data_files)
    return None


def _mapped(source: ProgramSource) -> bytes | bytearray | mmap.mmap:
    """Bytes to search in. Of a file only what is looked at is read."""
    if isinstance(source, memoryview):
        return source.tobytes()
    if isinstance(source, (bytes, bytearray)):
        return source
    with Path(source).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _names_quantization(data: bytes | bytearray | mmap.mmap) -> bool:
    """Whether the program, without its segments, has the name of an operator that dequantizes."""
    view = memoryview(data)
    end = len(view) if is_bundled_program(view[:8]) else read_frame(view).program_size
    return data.find(_SIGN, 0, end) >= 0
