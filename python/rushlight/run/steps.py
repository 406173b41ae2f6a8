# SPDX-License-Identifier: BSD-3-Clause
"""Quantization steps of a method's outputs: the differences that rounding may cause.

Integer kernels round a layer's result once; PyTorch's quantized graph rounds in float32. Both are correct
to one step of the result's scale, and a difference propagates through the following layers. A bundle's
expected outputs come from PyTorch, so outputs of quantized methods are allowed `1 + quantized calls // 10`
steps in addition to the float tolerance.

Method: one pass over the instructions. `dequantize_per_tensor` gives its output the step `scale`, a call
with an integer result the step 1, any other call the largest step of its inputs; int64 and bool results
are exact. Values that share planned memory share their step, so views need no special case. Scales
computed at run time (dynamic quantization) count as no step.
"""

from __future__ import annotations

from rushlight.program import Program
from rushlight.program.model import Kind, Method, Storage, TensorInfo, Value

_INTEGERS = frozenset(("int8", "uint8", "int16", "int32"))
_QUANTIZED = ("quantized_decomposed::", "rushlight::quantized_", "cortex_m::")
_CALLS_PER_STEP = 10


def output_steps(program: Program) -> dict[str, tuple[float, ...]]:
    """The additional difference allowed for each output, by method, in the output's unit; 0 where nothing is
    quantized."""
    return {method.name: _Steps(method).of_outputs() for method in program.plans}


class _Steps:
    """The step of each value of a method, computed from its instructions in order."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.steps: dict[tuple[int, int], float] = {}
        self.quantized = 0
        for name, arguments in method.calls():
            self._call(name, arguments)

    def of_outputs(self) -> tuple[float, ...]:
        allowed = 1 + self.quantized // _CALLS_PER_STEP
        values = self.method.values
        return tuple(allowed * self._step(values[index]) for index in self.method.outputs)

    def _call(self, name: str, arguments: list[Value]) -> None:
        if not arguments:
            return
        is_quantized = name.startswith(_QUANTIZED)
        self.quantized += is_quantized
        result = arguments[-1]
        given = [value for value in arguments if value is not result]
        scale = given[1].data if len(given) > 1 and given[1].kind is Kind.DOUBLE else None
        if name.startswith("quantized_decomposed::dequantize_per_tensor.") and isinstance(scale, float):
            step = scale
        else:
            step = max((self._step(value) for value in given), default=0.0)
        for tensor in self.method.tensors_of(result):
            if (key := _memory(tensor)) is None:
                continue
            if is_quantized and tensor.dtype in _INTEGERS:
                self.steps[key] = 1.0
            else:
                self.steps[key] = 0.0 if tensor.dtype in ("int64", "bool") else step

    def _step(self, value: Value) -> float:
        keys = [_memory(tensor) for tensor in self.method.tensors_of(value)]
        return max((self.steps.get(key, 0.0) for key in keys if key is not None), default=0.0)


def _memory(tensor: TensorInfo) -> tuple[int, int] | None:
    """The start of a tensor in planned memory; None for constants and unplanned tensors."""
    planned = tensor.storage in (Storage.PLANNED, Storage.MUTABLE)
    return (tensor.memory_id, tensor.memory_offset) if planned else None
