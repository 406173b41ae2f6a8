# SPDX-License-Identifier: BSD-3-Clause
"""A loaded method: takes arrays and returns arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any, Literal

import numpy as np

from rushlight.errors import DeadlineExceeded, InvalidArgument
from rushlight.runtime import native
from rushlight.runtime.arrays import ValueInfo, as_array, as_tensor, explain, to_native, torch_module
from rushlight.runtime.execution import Execution
from rushlight.runtime.method_meta import MethodMeta
from rushlight.status import Status

Outputs = Literal["copy", "view", "writable"]
_MODES: dict[str, int] = {"copy": 0, "view": 1, "writable": 2}


def _mode(outputs: str) -> int:
    if outputs not in _MODES:
        raise ValueError(f"outputs: expected 'copy', 'view' or 'writable', got {outputs!r}")
    return _MODES[outputs]


class Method:
    """One loaded method with its own memory and state.

    Execution releases Python's lock, so threads may run different methods, and different instances of one
    method, at once. Calls of one instance from several threads run one after another.
    """

    def __init__(
        self, module: ModuleType, name: str, method: Any, program: Any, path: str | None = None
    ) -> None:
        self._module = module
        self._method = method
        self._program = program
        self._path = path  # the program file's path, for errors
        self._tensors = False  # True if the last inputs contained a tensor
        self.name = name

    @cached_property
    def metadata(self) -> MethodMeta:
        """The program's description of the method; see Program.metadata."""
        return MethodMeta(native.call(self._module, self._program.method_facts, self.name))

    @cached_property
    def inputs(self) -> list[ValueInfo]:
        """The kinds, dtypes and shapes that execute() takes."""
        return [ValueInfo.from_native(entry) for entry in self.metadata.facts["inputs"]]

    @cached_property
    def outputs(self) -> list[ValueInfo]:
        """The kinds, dtypes and shapes that execute() returns."""
        return [ValueInfo.from_native(entry) for entry in self.metadata.facts["outputs"]]

    def execute(self, inputs: Sequence[Any] | None, *, outputs: Outputs = "copy") -> list[Any]:
        """Runs on `inputs` in order: numpy arrays, torch tensors, anything with the buffer protocol or
        DLPack, numbers, or lists of numbers. None reuses the inputs of the previous call.

        An input has the dtype and shape of `self.inputs`, any layout. It is copied once into the
        method's memory; without planned memory, an array that is writable, aligned and
        dense in the input's dim order is used in place, and is kept alive until the next call.

        Returns numpy arrays (bfloat16 as ml_dtypes) and numbers; torch tensors if an input was one.
        `outputs` chooses their memory:
          "copy"      owned by the caller
          "view"      read-only, over the method's memory: they change when the method runs again,
                      and keep its memory alive (a torch tensor is a copy: it could be written to)
          "writable"  likewise, but writable; outputs that are constants stay read-only

        Raises InvalidArgument for a wrong count, kind, dtype or shape, with `input`, the
        expected and the given value; and the errors of kernels.
        """
        values = None
        if inputs is not None:
            values, self._tensors = self._adapted(inputs)
        try:
            results = self._method.execute(values, _mode(outputs))
        except self._module.RuntimeFailure as failure:
            raise self._exception(failure, inputs) from None
        return self._as_tensors(results) if self._tensors else results

    def execute_async(
        self, inputs: Sequence[Any] | None, *, outputs: Outputs = "copy", timeout: float | None = None
    ) -> Execution:
        """Begins execute() in the background: on the program's threads, after the executions of this method
        that were begun before. Executions of other methods run at the same time, as many as the program has
        threads. Returns a future that asyncio can await; its result is that of execute().

        Arrays among the `inputs` are copied now, so the caller may change them at once. With `outputs` "view"
        or "writable" the results change at the method's next execution, also one that waits already.

        `timeout` is in seconds from now, the wait for other executions included. An execution that exceeds it
        ends before its next instruction, with DeadlineExceeded.

        Raises InvalidArgument; the future raises what execute() does, and CancelledError after cancel().
        """
        values, tensors, mode = None, self._tensors, _mode(outputs)
        if inputs is not None:
            adapted, tensors = self._adapted(inputs)
            # In the same layout, so that a method without planned inputs uses the copy in place.
            values = [np.array(v, order="K") if isinstance(v, np.ndarray) else v for v in adapted]

        def perform(execution: Any, code: int) -> list[Any]:
            if code == Status.DeadlineExceeded:
                raise self._late(timeout)
            try:
                results = self._method.execute(values, mode, execution)
            except self._module.RuntimeFailure as failure:
                if failure.args[0] == Status.DeadlineExceeded:
                    raise self._late(timeout) from None
                raise self._exception(failure, values) from None
            return self._as_tensors(results) if tensors else results

        try:
            return Execution(self._module, self._method, perform, timeout)
        except self._module.RuntimeFailure as failure:
            raise native.exception(failure, self._module) from None

    def set_inputs(self, inputs: Sequence[Any]) -> None:
        """Sets all inputs for execute(None). Raises InvalidArgument, as execute() does."""
        values, self._tensors = self._adapted(inputs)
        try:
            self._method.set_inputs(values)
        except self._module.RuntimeFailure as failure:
            raise self._exception(failure, inputs) from None

    def get_outputs(self, *, outputs: Outputs = "copy") -> list[Any]:
        """The outputs of the last execution; see execute()."""
        results: list[Any] = native.call(self._module, self._method.outputs, _mode(outputs))
        return self._as_tensors(results) if self._tensors else results

    def memory(self) -> dict[str, Any]:
        """Bytes in use: "method_arena", "planned" (one entry per buffer, memory id 1 first), "temporary_peak"
        (the most scratch that a kernel has used so far), "scratch" (the most that kernels announced), and
        "prepared" (the prepared weights that loading this method added to the program, or would have
        added). "delegates" has the additional bytes of its delegates: "working" (their values and planned
        memory), "scratch" and "prepared"."""
        return dict(self._method.memory())

    def lanes(self) -> dict[str, int]:
        """Tells which calls execute in parallel, and whether kernels share their work.

        "lanes" is the most calls at once, 0 if none; "windows" the number of groups of consecutive
        instructions whose calls may execute at once, and "calls" the number of calls in them; "taken" the
        windows that were measured to be faster in lanes, "open" the windows that are still measured;
        "planned_bytes" the planned memory with lanes, and "program_bytes" as the program states it. "alone"
        is true if the calling thread was measured to be faster alone than with the others."""
        return dict(self._method.lanes())

    @staticmethod
    def _as_tensors(results: list[Any]) -> list[Any]:
        torch = torch_module()
        return [as_tensor(result, torch) for result in results]

    def _adapted(self, inputs: Sequence[Any]) -> tuple[list[Any], bool]:
        """The inputs for the native module, which compares them with the program's; and True if one was a
        tensor. Only values without a dtype need `self.inputs`, which is slow to create."""
        torch, values, tensors = torch_module(), [], False
        for index, value in enumerate(inputs):
            if type(value) is not np.ndarray:
                if torch is not None and isinstance(value, torch.Tensor):
                    value, tensors = as_array(value), True
                elif index < len(self.inputs):  # otherwise the wrong count is refused later
                    value = to_native(value, self.inputs[index], index)
            values.append(value)
        return values, tensors

    def _late(self, timeout: float | None) -> Exception:
        return DeadlineExceeded(f"method '{self.name}': expected a result within {timeout:g} s, got none")

    def _exception(self, failure: Exception, inputs: Sequence[Any] | None) -> Exception:
        index = failure.args[3]
        if inputs is not None and len(inputs) != len(self.inputs):
            return InvalidArgument(
                f"method '{self.name}': expected {len(self.inputs)} inputs, got {len(inputs)}"
            )
        if inputs is not None and index is not None:
            explain(inputs[index], self.inputs[index], index)
        return native.located(native.exception(failure, self._module), self._path, self.name)

    def __call__(self, *inputs: Any) -> list[Any]:
        """Equals execute(inputs)."""
        return self.execute(inputs)
