# SPDX-License-Identifier: BSD-3-Clause
"""Integer inputs and outputs: which they are, and the methods that return their quantization parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.program.model import Kind, Method, Value

_CODES = {"uint8": 0, "int8": 1, "int16": 2}
"""PyTorch's integer of each dtype, as the metadata methods return it."""


@dataclass(frozen=True)
class Numbers:
    """Quantization parameters: real = (integer - zero_point) * scale, with integers from quant_min to
    quant_max."""

    scale: float
    zero_point: int
    quant_min: int
    quant_max: int
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}, scale {self.scale:.6g}, zero point {self.zero_point}"

    def as_dtype(self, dtype: str) -> Numbers:
        """The same parameters for the other 8-bit dtype: all integers shift by 128."""
        offset = int(np.iinfo(dtype).min) - int(np.iinfo(self.dtype).min)
        low, high = self.quant_min + offset, self.quant_max + offset
        return Numbers(self.scale, self.zero_point + offset, low, high, dtype)

    @classmethod
    def given(cls, described: Mapping[str, Any], what: str) -> Numbers:
        """The parameters in a mapping with "scale", "zp" and "dtype". `what` names it in errors. Errors:
        InvalidArgument."""
        if set(described) != {"scale", "zp", "dtype"}:
            raise InvalidArgument(
                f"{what}: expected scale, zp and dtype, got {', '.join(map(str, described))}"
            )
        dtype = str(described["dtype"]).removeprefix("torch.")
        if dtype not in _CODES:
            raise InvalidArgument(f"{what}: dtype: expected {', '.join(_CODES)}, got {dtype}")
        scale, zero_point, limits = described["scale"], described["zp"], np.iinfo(dtype)
        if not isinstance(scale, (int, float)) or not (math.isfinite(scale) and scale > 0):
            raise InvalidArgument(f"{what}: scale: expected a finite number above 0, got {scale!r}")
        if not isinstance(zero_point, int) or not limits.min <= zero_point <= limits.max:
            raise InvalidArgument(f"{what}: zp: expected {limits.min} to {limits.max}, got {zero_point!r}")
        return cls(float(scale), zero_point, int(limits.min), int(limits.max), dtype)


Chosen = Sequence[int] | Mapping[int, Mapping[str, Any] | None] | None


@dataclass(frozen=True)
class QuantizedIo:
    """Selects the inputs and outputs of a method that become integers.

    Args:
        inputs, outputs: their indices; None selects all float tensors. A mapping can give an index its
            own parameters, for example for the bytes of an image:
            {0: {"scale": 1 / 255, "zp": 0, "dtype": "uint8"}}. The program then requantizes to the
            model's parameters; without, the caller uses the model's.
        dtype: "int8" or "uint8"; None keeps the dtype of the model's quantization.
    """

    inputs: Chosen = None
    outputs: Chosen = None
    dtype: str | None = None

    def __post_init__(self) -> None:
        if self.dtype not in (None, "int8", "uint8"):
            raise InvalidArgument(f"quantize_io: dtype: expected 'int8' or 'uint8', got {self.dtype!r}")

    @classmethod
    def of(cls, given: object) -> QuantizedIo | None:
        """Converts the option `quantize_io`: True, a dtype, or a QuantizedIo; None for None and False.
        Errors: InvalidArgument."""
        if given is None or given is False:
            return None
        if given is True:
            return cls()
        if isinstance(given, str):
            return cls(dtype=given)
        if isinstance(given, cls):
            return given
        raise InvalidArgument(f"quantize_io: expected True, a dtype or a QuantizedIo, got {given!r}")


@dataclass(frozen=True)
class MethodQuantization:
    """The parameters of a method's integer inputs and outputs, by index."""

    inputs: Mapping[int, Numbers]
    outputs: Mapping[int, Numbers]

    def lines(self) -> Iterator[str]:
        """One line of text per input and output."""
        for kind, numbers in (("input", self.inputs), ("output", self.outputs)):
            for index, each in numbers.items():
                yield f"{kind} {index}: {each}"

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """The parameters as JSON types."""
        return {
            kind: [{"index": index, **vars(each)} for index, each in numbers.items()]
            for kind, numbers in (("inputs", self.inputs), ("outputs", self.outputs))
        }


def metadata_methods(method: str, numbers: MethodQuantization) -> list[Method]:
    """Methods that return the parameters: "input0_scale", "input0_zp", "input0_quant_min",
    "input0_quant_max", "input0_dtype", and so on, the names of ExecuTorch's quantize_io_pass. For a method
    other than "forward" they have its name as prefix: "decode_input0_scale"."""
    prefix = "" if method == "forward" else f"{method}_"
    made = []
    for kind, by_index in (("input", numbers.inputs), ("output", numbers.outputs)):
        for index, each in by_index.items():
            told = {
                "scale": each.scale,
                "zp": each.zero_point,
                "quant_min": each.quant_min,
                "quant_max": each.quant_max,
                "dtype": _CODES[each.dtype],
            }
            made += [_constant(f"{prefix}{kind}{index}_{key}", value) for key, value in told.items()]
    return made


def _constant(name: str, number: float | int) -> Method:
    kind = Kind.DOUBLE if isinstance(number, float) else Kind.INT
    value = Value(kind=kind, data=number)
    return Method(name, (value,), (), (0,), ((),), (), (), (0,))
