# SPDX-License-Identifier: BSD-3-Clause
"""Mixed precision: chooses layers to leave unquantized so that the error stays within a bound.

Greedy: leave layers out in order of the error without them, then quantize the unnecessary ones again.
Cost: one execution of the calibration inputs per layer and per step.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rushlight.errors import InvalidArgument
from rushlight.quantize.config import Static, WeightOnly
from rushlight.quantize.layers import Layer
from rushlight.quantize.quantizer import RushlightQuantizer
from rushlight.quantize.trial import Trial


@dataclass(frozen=True)
class MixedPrecision:
    """A choice of layers. `quantizer` leaves the layers in `left_out` in float (or applies the fallback);
    `error` is that of the graph quantized with it."""

    quantizer: RushlightQuantizer
    left_out: tuple[str, ...]
    error: float


def mixed_precision(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    calibration: Iterable[Sequence[Any]],
    bound: float,
    quantizer: RushlightQuantizer | None = None,
    *,
    fallback: WeightOnly | Static | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> MixedPrecision:
    """Chooses layers to leave unquantized so that the error on the calibration inputs is at most `bound`:
    first the layers that reduce the error most; then the unnecessary ones are quantized again.

    Args: as for `quantize`; `bound` is a relative error (see `rushlight.quantize.trial`); `fallback` is
    the scheme of the layers left out: None for float, WeightOnly(), or Static(activations="int16") for
    16x8.

    Errors: InvalidArgument if no choice stays within the bound.
    """
    if not (math.isfinite(bound) and bound > 0):
        raise InvalidArgument(f"bound: expected a finite number above 0, got {bound!r}")
    batches = [tuple(each) for each in calibration]
    chosen = quantizer or RushlightQuantizer()
    trial = Trial(module, example_inputs, batches, chosen, kwargs, dynamic_shapes, fallback is not None)
    without = {name: trial.error(trial.layers.keys() - {name}) for name in trial.layers}
    waiting = sorted(without, key=lambda name: (without[name], name))
    out: list[str] = []
    limit = bound
    while True:
        while waiting and trial.error(trial.layers.keys() - set(out)) > limit:
            out.append(waiting.pop(0))
        _quantize_unneeded(trial, out, waiting, limit)
        other = _leaving_out(chosen, trial.layers, out, fallback)
        error = trial.real_error(other)
        if error <= bound:
            return MixedPrecision(other, tuple(sorted(out)), error)
        if not waiting:
            raise InvalidArgument(
                f"bound: expected at least {error:.3g}, the error with all layers left out, got {bound:.3g}"
            )
        # The trial has a slightly smaller error than the converted graph: tighten its limit.
        limit = min(limit, trial.error(trial.layers.keys() - set(out))) * 0.99


def _quantize_unneeded(trial: Trial, out: list[str], waiting: list[str], limit: float) -> None:
    """Quantizes layers again if the limit holds without leaving them out. The last of `out` stays, because
    the limit was reached with it."""
    for name in list(out[:-1]):
        rest = [each for each in out if each != name]
        if trial.error(trial.layers.keys() - set(rest)) <= limit:
            out.remove(name)
            waiting.append(name)


def _leaving_out(
    quantizer: RushlightQuantizer,
    layers: Mapping[str, Layer],
    out: Collection[str],
    fallback: WeightOnly | Static | None,
) -> RushlightQuantizer:
    """The quantizer with an explicit scheme per layer, because a name also covers all modules inside."""
    schemes = {
        name: fallback if name in out else quantizer.scheme_of(layer.head) for name, layer in layers.items()
    }
    other = copy.copy(quantizer)
    other.default = schemes.pop("", quantizer.default)
    other.by_module_name = {**quantizer.by_module_name, **schemes}
    return other
