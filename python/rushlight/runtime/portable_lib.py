# SPDX-License-Identifier: BSD-3-Clause
"""The functions and classes of executorch.extension.pybindings.portable_lib, over rushlight's own.

    from rushlight.runtime.portable_lib import _load_for_executorch

    module = _load_for_executorch("model.pte")
    outputs = module.forward([inputs])

Where the official module raises RuntimeError, these raise rushlight's exceptions. Every
`program_verification` verifies everything. rushlight.load gets `enable_etdump` and `debug_buffer_size`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from rushlight.runtime.method import Method, Outputs
from rushlight.runtime.method_meta import MethodMeta, TensorInfo
from rushlight.runtime.official import Runtime, Verification
from rushlight.runtime.program import Program, ProgramSource

__all__ = [
    "ExecuTorchMethod",
    "ExecuTorchModule",
    "ExecuTorchProgram",
    "MethodMeta",
    "TensorInfo",
    "Verification",
    "_get_operator_names",
    "_get_registered_backend_names",
    "_is_available",
    "_load_for_executorch",
    "_load_for_executorch_from_buffer",
    "_load_program",
    "_load_program_from_buffer",
]


def _outputs(clone: bool) -> Outputs:
    """The kind of outputs: copies, or views of the method's memory, which change at the next run."""
    return "copy" if clone else "writable"


class ExecuTorchModule:
    """A program whose methods are called by name and keep their state between calls."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def run_method(
        self, method_name: str, inputs: Sequence[Any] = (), clone_outputs: bool = True
    ) -> list[Any]:
        """Runs a method; see Method.execute."""
        return self._program.run(method_name, inputs, outputs=_outputs(clone_outputs))

    def forward(self, inputs: Sequence[Any] = (), clone_outputs: bool = True) -> list[Any]:
        """Runs the method "forward"."""
        return self.run_method("forward", inputs, clone_outputs)

    __call__ = forward

    def plan_execute(self, method_name: str, clone_outputs: bool = True) -> list[Any]:
        """Runs a method on the inputs of the previous call."""
        return self._program.method(method_name).execute(None, outputs=_outputs(clone_outputs))

    def method_meta(self, method_name: str) -> MethodMeta:
        """Raises MethodNotFound."""
        return self._program.metadata(method_name)

    def method_names(self) -> list[str]:
        return self._program.method_names

    def has_etdump(self) -> bool:
        """True if the program was loaded with enable_etdump."""
        return self._program.has_etdump

    def write_etdump_result_to_file(self, path: str, debug_buffer_path: str | None = None) -> None:
        """Writes the trace of executed methods. Raises InvalidArgument, OSError."""
        self._program.write_etdump_result_to_file(path, debug_buffer_path)


class ExecuTorchMethod:
    """One loaded method."""

    def __init__(self, method: Method) -> None:
        self._method = method

    def set_inputs(self, inputs: Sequence[Any]) -> None:
        """Sets all inputs for execute()."""
        self._method.set_inputs(inputs)

    def execute(self) -> None:
        """Runs the method on the inputs set before."""
        self._method.execute(None, outputs="view")

    def get_outputs(self, clone_outputs: bool = True) -> list[Any]:
        """The outputs of the last execution."""
        return self._method.get_outputs(outputs=_outputs(clone_outputs))

    def call(self, inputs: Sequence[Any] = (), clone_outputs: bool = True) -> list[Any]:
        """Runs on `inputs`; see Method.execute."""
        return self._method.execute(inputs, outputs=_outputs(clone_outputs))

    __call__ = call

    def method_meta(self) -> MethodMeta:
        return self._method.metadata


class ExecuTorchProgram:
    """A program whose methods are loaded one by one."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def num_methods(self) -> int:
        return len(self._program.method_names)

    def get_method_name(self, method_index: int) -> str:
        """Raises IndexError."""
        return self._program.method_names[method_index]

    def load_method(self, method_name: str) -> ExecuTorchMethod:
        """A new instance of the method; errors as Program.load_method."""
        return ExecuTorchMethod(self._program.load_method(method_name))

    def method_meta(self, method_name: str) -> MethodMeta:
        """Raises MethodNotFound."""
        return self._program.metadata(method_name)

    def has_etdump(self) -> bool:
        """True if the program was loaded with enable_etdump."""
        return self._program.has_etdump

    def write_etdump_result_to_file(self, path: str, debug_buffer_path: str | None = None) -> None:
        """Writes the trace of executed methods. Raises InvalidArgument, OSError."""
        self._program.write_etdump_result_to_file(path, debug_buffer_path)


def _load(
    source: ProgramSource, data_path: str | None, enable_etdump: bool, debug_buffer_size: int
) -> Program:
    return Program(
        source,
        data_files=[] if data_path is None else [data_path],
        enable_etdump=enable_etdump,
        debug_buffer_size=debug_buffer_size,
    )


def _load_program(
    path: str | os.PathLike[str],
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.InternalConsistency,
    data_path: str | None = None,
) -> ExecuTorchProgram:
    """A program from a file; `data_path` is a .ptd file with external tensors."""
    del program_verification
    return ExecuTorchProgram(_load(path, data_path, enable_etdump, debug_buffer_size))


def _load_program_from_buffer(
    buffer: bytes,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.InternalConsistency,
    data_path: str | None = None,
) -> ExecuTorchProgram:
    """A program from bytes, which are used in place."""
    del program_verification
    return ExecuTorchProgram(_load(buffer, data_path, enable_etdump, debug_buffer_size))


def _load_for_executorch(
    program_path: str | os.PathLike[str],
    data_path: str | None = None,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.InternalConsistency,
) -> ExecuTorchModule:
    """A program from a file; `data_path` is a .ptd file with external tensors."""
    del program_verification
    return ExecuTorchModule(_load(program_path, data_path, enable_etdump, debug_buffer_size))


def _load_for_executorch_from_buffer(
    buffer: bytes,
    data_map_buffer: bytes | None = None,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.InternalConsistency,
) -> ExecuTorchModule:
    """A program from bytes, which are used in place, and a .ptd from bytes, which are copied."""
    del program_verification
    if data_map_buffer is None:
        return ExecuTorchModule(_load(buffer, None, enable_etdump, debug_buffer_size))
    with _as_file(data_map_buffer) as data_path:
        return ExecuTorchModule(_load(buffer, data_path, enable_etdump, debug_buffer_size))


@contextlib.contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """The path of a file in memory, which exists while it is mapped."""
    descriptor = os.memfd_create("data.ptd")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        yield f"/proc/self/fd/{descriptor}"


def _is_available(backend_name: str) -> bool:
    """True if the backend is linked and its device is present."""
    return Runtime.get().backend_registry.is_available(backend_name)


def _get_operator_names() -> list[str]:
    """The linked operators, sorted."""
    return sorted(Runtime.get().operator_registry.operator_names)


def _get_registered_backend_names() -> list[str]:
    """The linked backends."""
    return Runtime.get().backend_registry.registered_backend_names
