# SPDX-License-Identifier: BSD-3-Clause
"""Checks a program and a case against each other before building or running."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.build import refuse_delegates
from rushlight.errors import InvalidArgument
from rushlight.program import (
    Method,
    Program,
    TensorInfo,
    is_bundled_program,
    read_bundled_program,
    read_data_file,
    read_program,
)
from rushlight.program.model import Dynamism
from rushlight.run.cases import Call, Case
from rushlight.run.origins import Origins

MAX_DATA_FILES = 8
"""The maximum number of data files of a runner."""


@dataclass(frozen=True)
class PreparedCase:
    """A case that fits its program. `path` is the given file, `data` the program in it without the bundle,
    `data_files` are the case's, with absolute paths."""

    path: Path
    data: bytes
    program: Program
    is_bundled: bool
    case: Case
    data_files: tuple[Path, ...]

    @property
    def model_file(self) -> Path | bytes:
        """The program for a runner, which may not support bundled programs."""
        return self.data if self.is_bundled else self.path

    @property
    def origins(self) -> Origins:
        """The source lines of the program's instructions, for errors."""
        return Origins(self.path, self.program)


def prepare_case(path: Path, case: Case, defines: Mapping[str, str]) -> PreparedCase:
    """Reads the program and checks `case` against it; `defines` are the CMake definitions of the build that
    will run it.

    Errors: InvalidProgram; BackendNotFound; MethodNotFound; InvalidArgument for a missing model or data
    file, too many data files, inputs that do not fit, and external tensors missing from all data files.
    """
    if not path.is_file():
        raise InvalidArgument(f"model {path}: no such file")
    data = path.read_bytes()
    is_bundled = is_bundled_program(data)
    if is_bundled:
        data = bytes(read_bundled_program(data).program)
    program = read_program(data)
    refuse_delegates(program, defines, converted=True)
    for call in case.calls:
        _check_inputs(program.method(call.method), call)
    return PreparedCase(path, data, program, is_bundled, case, _data_files(program, case))


def _check_inputs(method: Method, call: Call) -> None:
    """Checks count, kinds, dtypes and shapes of a call's inputs."""
    if len(call.inputs) != len(method.inputs):
        raise InvalidArgument(
            f"method '{call.method}': expected {len(method.inputs)} inputs, got {len(call.inputs)}"
        )
    for position, (value, index) in enumerate(zip(call.inputs, method.inputs, strict=True)):
        data = method.values[index].data
        if isinstance(data, TensorInfo):
            _check_tensor(f"method '{call.method}', input {position}", value, data)


def _check_tensor(what: str, value: Any, tensor: TensorInfo) -> None:
    if value is None:
        raise InvalidArgument(f"{what}: expected a {tensor.dtype} tensor, got None")
    array = np.asarray(value)
    if array.dtype.name != tensor.dtype:
        raise InvalidArgument(f"{what}: expected dtype {tensor.dtype}, got {array.dtype.name}")
    static = tensor.dynamism is Dynamism.STATIC
    if array.ndim != len(tensor.sizes) or (static and array.shape != tensor.sizes):
        bound = "" if static else "at most "
        raise InvalidArgument(f"{what}: expected shape {bound}{list(tensor.sizes)}, got {list(array.shape)}")


def _data_files(program: Program, case: Case) -> tuple[Path, ...]:
    """The case's data files, after checking that they contain all external tensors of the called methods."""
    if len(case.data_files) > MAX_DATA_FILES:
        raise InvalidArgument(f"data files: expected at most {MAX_DATA_FILES}, got {len(case.data_files)}")
    held = {entry.key for path in case.data_files for entry in read_data_file(path).entries}
    for name in dict.fromkeys(call.method for call in case.calls):
        _check_external(program.method(name), held)
    return tuple(path.resolve() for path in case.data_files)


def _check_external(method: Method, held: set[str]) -> None:
    for tensor in method.external_tensors():
        if tensor.name not in held:
            raise InvalidArgument(
                f"method '{method.name}': tensor '{tensor.name}': expected it in a data file, got none",
                next_step="Give the .ptd file that was exported with the program: --data weights.ptd",
            )
