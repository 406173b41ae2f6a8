# SPDX-License-Identifier: BSD-3-Clause
"""Quantization schemes: the forms of an operator's weight and activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rushlight.errors import InvalidArgument


@dataclass(frozen=True)
class Static:
    """int8 weights, and int8 or int16 activations with ranges fixed by calibration or training.

    Args:
        per_channel: a weight has one scale per output channel; otherwise one for all.
        activations: "int8", or "int16" if 256 steps over the range are too few. int16 is always symmetric.
        symmetric_activations: activations have zero point 0 and use -127 to 127; otherwise any zero point.
        ranges: the range that calibration chooses for an activation: "histogram" clips outliers to
            minimize the rounding error, "minmax" covers all observed values. Training uses a moving
            average.
        matmul: also quantize products of two activations (attention).

    Errors: InvalidArgument for another value of activations or ranges.
    """

    per_channel: bool = True
    activations: Literal["int8", "int16"] = "int8"
    symmetric_activations: bool = False
    ranges: Literal["histogram", "minmax"] = "histogram"
    matmul: bool = False

    def __post_init__(self) -> None:
        if self.activations not in ("int8", "int16"):
            raise InvalidArgument(f"activations: expected 'int8' or 'int16', got {self.activations!r}")
        if self.ranges not in ("histogram", "minmax"):
            raise InvalidArgument(f"ranges: expected 'histogram' or 'minmax', got {self.ranges!r}")


@dataclass(frozen=True)
class Dynamic:
    """int8 weights of linear layers; each execution quantizes their inputs to int8 with a range it measures.

    Args:
        per_channel: a weight has one scale per output channel; otherwise one for all.
        per_token: an input has one scale per vector along its last dimension; otherwise one for all.
    """

    per_channel: bool = True
    per_token: bool = False


@dataclass(frozen=True)
class WeightOnly:
    """Integer weights of linear, convolution and embedding layers, 8 or 4 bits; activations stay in float.

    Args:
        bits: 8 or 4.
        group_size: the number of neighbours in a row of the weight that share a scale. None, and a size
            that does not divide the row, use one scale per row. A row has all elements with the same
            first index.

    Errors: InvalidArgument for another number of bits, or a group_size below 2.
    """

    bits: Literal[4, 8] = 8
    group_size: int | None = None

    def __post_init__(self) -> None:
        if self.bits not in (4, 8):
            raise InvalidArgument(f"bits: expected 4 or 8, got {self.bits!r}")
        if self.group_size is not None and self.group_size < 2:
            raise InvalidArgument(f"group_size: expected 2 or more, got {self.group_size}")


Scheme = Static | Dynamic | WeightOnly
