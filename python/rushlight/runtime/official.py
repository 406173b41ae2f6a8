# SPDX-License-Identifier: BSD-3-Clause
"""The shape of ExecuTorch's Python runtime API: Runtime.get().load_program(...).load_method(...)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from rushlight.runtime import native, program


class Verification(enum.Enum):
    """How much of a program is checked when it is loaded. rushlight checks everything at either level."""

    Minimal = 0
    InternalConsistency = 1


class OperatorRegistry:
    """The operators linked into this runtime."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    @property
    def operator_names(self) -> frozenset[str]:
        return self._names


class BackendRegistry:
    """The backends linked into this runtime."""

    @property
    def registered_backend_names(self) -> list[str]:
        return []

    def is_available(self, backend_name: str) -> bool:
        return backend_name in self.registered_backend_names


class Program:
    """A loaded program."""

    def __init__(self, inner: program.Program) -> None:
        self._inner = inner

    @property
    def method_names(self) -> set[str]:
        return set(self._inner.method_names)

    def load_method(self, name: str) -> program.Method:
        """A new instance of the method, with `execute(inputs)`."""
        return self._inner.load_method(name)


class Runtime:
    """The one runtime of the process; `get()` returns it."""

    _instance: Runtime | None = None

    @classmethod
    def get(cls) -> Runtime:
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    @property
    def operator_registry(self) -> OperatorRegistry:
        return OperatorRegistry(native.default_module().operator_names())

    @property
    def backend_registry(self) -> BackendRegistry:
        return BackendRegistry()

    def load_program(
        self, data: Any, *, verification: Verification = Verification.InternalConsistency
    ) -> Program:
        """A program from a path, bytes, or a binary file object."""
        del verification
        return Program(program.load(data.read() if hasattr(data, "read") else data))
