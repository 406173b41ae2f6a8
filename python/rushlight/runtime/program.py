# SPDX-License-Identifier: BSD-3-Clause
"""Programs and methods: load once, run on arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from rushlight.errors import InvalidArgument, MethodNotFound
from rushlight.runtime import native
from rushlight.runtime.arrays import ValueInfo, from_native, to_native

ProgramSource = str | os.PathLike | bytes | bytearray | memoryview


class Method:
    """One loaded method with memory and state of its own."""

    def __init__(self, module: ModuleType, name: str, method: Any) -> None:
        self._module = module
        self._method = method
        self.name = name
        self.inputs = [ValueInfo.from_native(info) for info in method.inputs()]
        self.outputs = [ValueInfo.from_native(info) for info in method.outputs()]

    def execute(self, inputs: Sequence[Any]) -> list[Any]:
        """Runs on `inputs` in order: numpy arrays, anything with the buffer protocol or DLPack, or
        numbers. Returns fresh numpy arrays (bfloat16 as ml_dtypes) and numbers.

        Raises InvalidArgument for a wrong count, dtype or shape.
        """
        if len(inputs) != len(self.inputs):
            raise InvalidArgument(
                f"method '{self.name}': expected {len(self.inputs)} inputs, got {len(inputs)}"
            )
        values = [
            to_native(value, info, i) for i, (value, info) in enumerate(zip(inputs, self.inputs, strict=True))
        ]
        return [from_native(out) for out in native.call(self._module, self._method.execute, values)]

    def memory(self) -> dict[str, Any]:
        """Bytes in use: "method_arena", "planned" (one entry a buffer), "temporary_peak"."""
        return self._method.memory()

    def __call__(self, *inputs: Any) -> list[Any]:
        return self.execute(inputs)


class Program:
    """A verified .pte. Methods are loaded on first use and keep their state between calls."""

    def __init__(self, source: ProgramSource, module: ModuleType | None = None) -> None:
        self._module = native.default_module() if module is None else module
        if isinstance(source, memoryview) and not source.c_contiguous:
            source = bytes(source)
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._program = native.call(self._module, self._module.load_bytes, source)
        else:
            self._program = native.call(self._module, self._module.load_file, os.fspath(source))
        self._methods: dict[str, Method] = {}

    @property
    def method_names(self) -> list[str]:
        return self._program.method_names()

    def load_method(self, name: str) -> Method:
        """A new instance of the method. Raises MethodNotFound, OperatorNotFound, BackendNotFound."""
        if name not in self.method_names:
            raise MethodNotFound(name, self.method_names)
        return Method(self._module, name, native.call(self._module, self._program.load_method, name))

    def method(self, name: str) -> Method:
        """The program's own instance of the method, loaded on first use."""
        if name not in self._methods:
            self._methods[name] = self.load_method(name)
        return self._methods[name]

    def run(self, method: str, arrays: Sequence[Any]) -> list[Any]:
        """Runs `method` on `arrays`; see Method.execute."""
        return self.method(method).execute(arrays)

    def forward(self, *arrays: Any) -> list[Any]:
        """Runs the method "forward"."""
        return self.run("forward", arrays)


def load(source: ProgramSource, *, module: ModuleType | None = None) -> Program:
    """Opens and verifies a .pte, a path or its bytes.

    `module` is an extension module made by `rushlight.build(..., target="host")`; by default the one
    this package was installed with. Raises InvalidProgram.
    """
    return Program(source, module)
