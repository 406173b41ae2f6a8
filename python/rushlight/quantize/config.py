# SPDX-License-Identifier: BSD-3-Clause
"""Schemes of quantization: what becomes of an operator's weight and of its activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rushlight.errors import InvalidArgument


@dataclass(frozen=True)
class Static:
    """int8 weights and activations of int8 or int16, whose ranges calibration or training finds.

    Args:
        per_channel: a weight has a scale for each output channel; else one.
        activations: "int8", or "int16" where steps of 1/256 of the range are too few; those are always
            symmetric.
        symmetric_activations: activations have zero point 0 and use -127 to 127; else any zero point.
        ranges: how calibration finds an activation's range: "histogram" cuts off what would cost the rest
            too many steps, "minmax" covers everything seen. Training follows a moving average.
        matmul: products of two activations are quantized too (attention).
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
    """int8 weights of linear layers; their inputs become int8 by ranges found in each run.

    Args:
        per_channel: a weight has a scale for each output channel; else one.
        per_token: an input has a scale for each vector along its last dimension; else one.
    """

    per_channel: bool = True
    per_token: bool = False


@dataclass(frozen=True)
class WeightOnly:
    """Weights of linear, convolution and embedding layers as 8-bit or 4-bit numbers; activations stay.

    Args:
        bits: 8 or 4.
        group_size: how many neighbours in a row of the weight share a scale; None: the whole row, as where
            it does not divide a row. A row is what belongs to one index of the first dimension.
    """

    bits: Literal[4, 8] = 8
    group_size: int | None = None

    def __post_init__(self) -> None:
        if self.bits not in (4, 8):
            raise InvalidArgument(f"bits: expected 4 or 8, got {self.bits!r}")
        if self.group_size is not None and self.group_size < 2:
            raise InvalidArgument(f"group_size: expected 2 or more, got {self.group_size}")


Scheme = Static | Dynamic | WeightOnly
