# SPDX-License-Identifier: BSD-3-Clause
"""Converts schemes to torchao's specifications of observers and quantized tensors."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torchao.quantization.pt2e import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
)
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationSpec,
    QuantizationSpecBase,
)

from rushlight.quantize.config import Dynamic, Scheme, Static, WeightOnly
from rushlight.quantize.observers import GroupedWeightObserver, PerTokenObserver, RangeObserver
from rushlight.quantize.recurrent_observer import CellObserver

_EPS = {torch.int8: 2.0**-12, torch.int16: 2.0**-20}  # the smallest scale of an activation


@dataclass(frozen=True)
class Specs:
    """The specifications of a scheme for the patterns. `training` selects fake quantization instead of
    observers."""

    scheme: Scheme
    training: bool = False

    def activation(self) -> QuantizationSpec | None:
        """The specification of an activation; None if it stays in float."""
        if isinstance(self.scheme, Static):
            return _static_activation(self.scheme, self.training)
        if isinstance(self.scheme, Dynamic):
            return _dynamic_activation(self.scheme, self.training)
        return None

    def output(self) -> QuantizationSpec | None:
        """The specification of an output; None if it stays in float."""
        return self.activation() if isinstance(self.scheme, Static) else None

    def share_of_one(self) -> QuantizationSpecBase | None:
        """The specification of an output from 0 to 1; None if it stays in float."""
        if not isinstance(self.scheme, Static):
            return None
        form = _form_of(self.scheme)
        scale, zero_point = 1 / 256, -128
        if form.symmetric:
            scale, zero_point = 1 / form.high, 0
        return FixedQParamsQuantizationSpec(
            dtype=form.dtype,
            scale=scale,
            zero_point=zero_point,
            quant_min=form.low,
            quant_max=form.high,
            qscheme=form.qscheme,
        )

    def weight(self, channel_axis: int = 0, per_tensor: bool = False) -> QuantizationSpec:
        """The specification of a weight.

        Args:
            channel_axis: the dimension of the output channels.
            per_tensor: use one scale, because no dimension of the weight has all output channels.
        """
        if isinstance(self.scheme, WeightOnly):
            return _grouped_weight(self.scheme, self.training)
        if self.scheme.per_channel and not per_tensor:
            return _channel_weight(channel_axis, self.training)
        return _tensor_weight(self.training)


@dataclass(frozen=True)
class _Form:
    """The integer form of a static activation."""

    dtype: torch.dtype
    symmetric: bool
    low: int
    high: int

    @property
    def qscheme(self) -> torch.qscheme:
        return torch.per_tensor_symmetric if self.symmetric else torch.per_tensor_affine


def _form_of(scheme: Static) -> _Form:
    if scheme.activations == "int16":
        return _Form(torch.int16, True, -32767, 32767)
    symmetric = scheme.symmetric_activations
    return _Form(torch.int8, symmetric, -127 if symmetric else -128, 127)


def _static_activation(scheme: Static, training: bool) -> QuantizationSpec:
    form = _form_of(scheme)
    observer = RangeObserver if scheme.ranges == "histogram" else MinMaxObserver
    # Histograms optimize ranges for 256 steps; with 65536 steps clipping gains nothing.
    observer = MinMaxObserver if form.dtype == torch.int16 else observer
    eps = _EPS[form.dtype]
    constructor = observer.with_args(eps=eps)
    if training:
        constructor = FusedMovingAvgObsFakeQuantize.with_args(observer=MovingAverageMinMaxObserver, eps=eps)
    return QuantizationSpec(
        dtype=form.dtype,
        quant_min=form.low,
        quant_max=form.high,
        qscheme=form.qscheme,
        observer_or_fake_quant_ctr=constructor,
    )


def _dynamic_activation(scheme: Dynamic, training: bool) -> QuantizationSpec:
    if scheme.per_token:
        # The qscheme is not that of one range, so that no other use of the tensor shares it. is_dynamic stays
        # False: torchao would insert its own choice of ranges.
        return QuantizationSpec(
            dtype=torch.int8,
            qscheme=torch.per_channel_affine,
            observer_or_fake_quant_ctr=PerTokenObserver.with_args(),
        )
    constructor = PlaceholderObserver.with_args(eps=_EPS[torch.int8])
    if training:
        newest = MovingAverageMinMaxObserver.with_args(averaging_constant=1.0)
        constructor = FakeQuantize.with_args(observer=newest, eps=_EPS[torch.int8])
    return QuantizationSpec(
        dtype=torch.int8,
        quant_min=-128,
        quant_max=127,
        qscheme=torch.per_tensor_affine,
        is_dynamic=True,
        observer_or_fake_quant_ctr=constructor,
    )


def cell_of_recurrent_layer() -> QuantizationSpec:
    """The specification of the cells of a recurrent layer that is one operator."""
    return QuantizationSpec(
        dtype=torch.int16,
        quant_min=-32768,
        quant_max=32767,
        qscheme=torch.per_tensor_symmetric,
        observer_or_fake_quant_ctr=CellObserver.with_args(),
    )


def _channel_weight(axis: int, training: bool) -> QuantizationSpec:
    constructor = PerChannelMinMaxObserver.with_args()
    if training:
        # torchao passes the axis only to observers with "PerChannel" in their own name.
        constructor = FusedMovingAvgObsFakeQuantize.with_args(
            observer=MovingAveragePerChannelMinMaxObserver, ch_axis=axis
        )
    return QuantizationSpec(
        dtype=torch.int8,
        quant_min=-127,
        quant_max=127,
        qscheme=torch.per_channel_symmetric,
        ch_axis=axis,
        observer_or_fake_quant_ctr=constructor,
    )


def _tensor_weight(training: bool) -> QuantizationSpec:
    constructor = MinMaxObserver.with_args()
    if training:
        constructor = FusedMovingAvgObsFakeQuantize.with_args(observer=MovingAverageMinMaxObserver)
    return QuantizationSpec(
        dtype=torch.int8,
        quant_min=-127,
        quant_max=127,
        qscheme=torch.per_tensor_symmetric,
        observer_or_fake_quant_ctr=constructor,
    )


def _grouped_weight(scheme: WeightOnly, training: bool) -> QuantizationSpec:
    top = 2 ** (scheme.bits - 1) - 1
    constructor = GroupedWeightObserver.with_args(group_size=scheme.group_size, training=training)
    return QuantizationSpec(
        dtype=torch.int8, quant_min=-top - 1, quant_max=top, observer_or_fake_quant_ctr=constructor
    )
