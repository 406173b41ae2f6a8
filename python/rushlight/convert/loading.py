# SPDX-License-Identifier: BSD-3-Clause
"""Loads programs into this process with their quantized subgraphs converted to integers."""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

from rushlight import runtime
from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.integers.names import DEQUANTIZE
from rushlight.runtime.program import ProgramSource


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
    how = {"module": module, "enable_etdump": enable_etdump, **options}
    # Opened first, as the runtime reads the operators' names much sooner than Python reads the file.
    program = runtime.load(source, **how)
    if not (wanted and _names_quantization(program)):
        return program
    # Imported only when needed: the import takes longer than opening a program.
    from rushlight.convert.built import converted_for

    converted = converted_for(source, module, options.get("data_files", ()))
    return program if converted is None else runtime.load(converted, **how)


def _names_quantization(program: runtime.Program) -> bool:
    """True if a method calls a dequantizing operator. A damaged method is reported when it is loaded, and a
    method whose name is not UTF-8 cannot be loaded."""
    with contextlib.suppress(InvalidProgram, InvalidArgument):
        return any(name.startswith(DEQUANTIZE) for name in program.operator_names())
    return False
