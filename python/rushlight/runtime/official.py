# SPDX-License-Identifier: BSD-3-Clause
"""ExecuTorch's Python runtime API: Runtime.get().load_program(...).load_method(...)."""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Sequence
from types import ModuleType
from typing import BinaryIO

from rushlight.runtime import native, program
from rushlight.runtime.method import Method
from rushlight.runtime.method_meta import MethodMemory, MethodMeta

_SOURCES = (str, bytes, bytearray, memoryview, os.PathLike)


class Verification(enum.Enum):
    """The extent of checks when a program is loaded. rushlight checks everything at either level."""

    Minimal = 0
    InternalConsistency = 1


class OperatorRegistry:
    """The operators linked into this runtime."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    @property
    def operator_names(self) -> set[str]:
        """The operators' names with overloads, such as "aten::add.out"."""
        return set(self._names)


class BackendRegistry:
    """The backends linked into this runtime."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    @property
    def registered_backend_names(self) -> list[str]:
        """The backends' ids, as in programs."""
        return list(self._module.backend_names())

    def is_available(self, backend_name: str) -> bool:
        """True if the backend is linked and its device is present."""
        return bool(self._module.backend_is_available(backend_name))


class Program:
    """A loaded program. Each method is loaded once, on first use."""

    def __init__(self, inner: program.Program) -> None:
        self._inner = inner

    @property
    def method_names(self) -> set[str]:
        return set(self._inner.method_names)

    def load_method(self, name: str) -> Method:
        """The program's instance of the method; each call returns the same instance, with its state.

        Raises MethodNotFound, OperatorNotFound, BackendNotFound, InvalidProgram, OutOfMemory.
        """
        return self._inner.method(name)

    def metadata(self, method_name: str) -> MethodMeta:
        """The method's inputs, outputs and attributes, without loading it. Raises MethodNotFound."""
        return self._inner.metadata(method_name)

    def memory(self, method_name: str = "forward") -> MethodMemory:
        """The memory that the method will need. Raises MethodNotFound."""
        return self._inner.memory(method_name)

    def write_etdump_result_to_file(
        self, etdump_path: str | os.PathLike[str], debug_buffer_path: str | os.PathLike[str] | None = None
    ) -> None:
        """Writes the trace of executed methods, if loaded with enable_etdump. Raises InvalidArgument,
        OSError."""
        self._inner.write_etdump_result_to_file(etdump_path, debug_buffer_path)


class Runtime:
    """The only runtime of the process; `get()` returns it."""

    def __init__(self, *, module: ModuleType) -> None:
        self.backend_registry = BackendRegistry(module)
        self.operator_registry = OperatorRegistry(module.operator_names())
        self._module = module

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def get() -> Runtime:
        return Runtime(module=native.default_module())

    def load_program(
        self,
        data: program.ProgramSource | BinaryIO,
        *,
        verification: Verification = Verification.InternalConsistency,
        data_path: str | os.PathLike[str] | None = None,
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
    ) -> Program:
        """A program from a path, bytes, or a binary file object; `data_path` is a .ptd file with external
        tensors. `enable_etdump` and `debug_buffer_size` are passed to rushlight.load.

        Raises InvalidProgram, InvalidArgument (a file that cannot be read), TypeError.
        """
        if not isinstance(verification, Verification):
            raise TypeError(f"verification: expected a Verification, got {type(verification).__name__}")
        source = data if isinstance(data, _SOURCES) else data.read() if hasattr(data, "read") else None
        if not isinstance(source, _SOURCES):
            raise TypeError(
                f"data: expected a path, bytes or a binary file object, got {type(data).__name__}"
            )
        files = [] if data_path is None else [data_path]
        inner = program.Program(
            source,
            self._module,
            data_files=files,
            enable_etdump=enable_etdump,
            debug_buffer_size=debug_buffer_size,
        )
        return Program(inner)
