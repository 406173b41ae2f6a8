# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and outputs of integers: which there are, and how a program tells what the integers stand for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.program.model import Kind, Method, Value

_CODES = {"uint8": 0, "int8": 1, "int16": 2}
"""The dtypes by their numbers in PyTorch, as the metadata has them."""


@dataclass(frozen=True)
class Numbers:
    """The meaning of an integer: (integer - zero_point) * scale, from quant_min to quant_max."""

    scale: float
    zero_point: int
    quant_min: int
    quant_max: int
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}, scale {self.scale:.6g}, zero point {self.zero_point}"

    def as_dtype(self, dtype: str) -> Numbers:
        """The same numbers in another dtype of 8 bits: all integers move by 128."""
        offset = int(np.iinfo(dtype).min) - int(np.iinfo(self.dtype).min)
        low, high = self.quant_min + offset, self.quant_max + offset
        return Numbers(self.scale, self.zero_point + offset, low, high, dtype)

    @classmethod
    def given(cls, described: Mapping[str, Any], what: str) -> Numbers:
        """Of a mapping with "scale", "zp" and "dtype". Errors: InvalidArgument."""
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
    """Which inputs and outputs of a method are integers.

    Args:
        inputs, outputs: their indices; None for all float tensors. A mapping gives an index numbers of its
            own, those of an image's bytes, say: {0: {"scale": 1 / 255, "zp": 0, "dtype": "uint8"}}. The
            program requantizes them to the model's; without any, the caller has the model's numbers.
        dtype: "int8" or "uint8"; None leaves each as the model quantizes it.
    """

    inputs: Chosen = None
    outputs: Chosen = None
    dtype: str | None = None

    def __post_init__(self) -> None:
        if self.dtype not in (None, "int8", "uint8"):
            raise InvalidArgument(f"quantize_io: dtype: expected 'int8' or 'uint8', got {self.dtype!r}")

    @classmethod
    def of(cls, given: object) -> QuantizedIo | None:
        """From the option: True, a dtype, or a QuantizedIo; None where nothing is asked for.
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
class MethodNumbers:
    """The numbers of a method's quantized inputs and outputs, by index."""

    inputs: Mapping[int, Numbers]
    outputs: Mapping[int, Numbers]

    def lines(self) -> Iterator[str]:
        """One line for each."""
        for kind, numbers in (("input", self.inputs), ("output", self.outputs)):
            for index, each in numbers.items():
                yield f"{kind} {index}: {each}"

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """In JSON's types."""
        return {
            kind: [{"index": index, **vars(each)} for index, each in numbers.items()]
            for kind, numbers in (("inputs", self.inputs), ("outputs", self.outputs))
        }


def metadata_methods(method: str, numbers: MethodNumbers) -> list[Method]:
    """Methods that return the numbers: "input0_scale", "input0_zp", "input0_quant_min", "input0_quant_max",
    "input0_dtype", and so on, the names that ExecuTorch's quantize_io_pass gives them. Those of a method
    other than "forward" begin with its name: "decode_input0_scale"."""
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
