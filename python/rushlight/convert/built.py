# SPDX-License-Identifier: BSD-3-Clause
"""Converts a program for the kernels in a native module."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from rushlight.codegen.table import Operator
from rushlight.convert.api import convert
from rushlight.convert.files import own_operators
from rushlight.errors import InvalidArgument, InvalidProgram, MissingDependency
from rushlight.program import read_model
from rushlight.program.dtypes import NAMES
from rushlight.runtime import native
from rushlight.runtime.program import DataFiles, ProgramSource


def converted_for(
    source: ProgramSource, module: ModuleType | None, data_files: DataFiles = ()
) -> bytes | None:
    """The bytes of the converted program; None if nothing changes or the program cannot be read."""
    with contextlib.suppress(InvalidProgram, InvalidArgument, MissingDependency, OSError, ValueError):
        model = read_model(memoryview(_mapped(source)))
        done = convert(model, _operators(module), data_files=data_files)
        return done.buffer if done.is_changed else None
    return None


def _mapped(source: ProgramSource) -> bytes | bytearray | mmap.mmap:
    """The program's bytes; a file is memory-mapped, so only the pages that are read are loaded."""
    if isinstance(source, memoryview):
        return source.tobytes()
    if isinstance(source, (bytes, bytearray)):
        return source
    with Path(source).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _operators(module: ModuleType | None) -> Mapping[str, Operator]:
    """The rows of the operators in a module, restricted to its dtypes."""
    known = own_operators()
    if module is None:
        return known
    built = native.call(module, module.operator_dtypes)
    return {
        name: replace(known[name], dtypes=known[name].dtypes & {NAMES[number] for number in numbers})
        for name, numbers in built.items()
        if name in known
    }
