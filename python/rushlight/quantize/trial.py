# SPDX-License-Identifier: BSD-3-Clause
"""Measures the error of a model with some of its layers quantized.

The error of an output is the root mean square of its differences from the float model's output, divided by
the root mean square of the latter; the error of a model is the largest of all outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from rushlight.errors import InvalidArgument
from rushlight.quantize.api import calibrated, convert
from rushlight.quantize.layers import Inputs, Layer, QuantizedLayers
from rushlight.quantize.quantizer import RushlightQuantizer


class Trial:
    """A calibrated graph and its float outputs. Errors: InvalidArgument without batches, or if no layer is
    quantized."""

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: Inputs,
        batches: list[tuple[Any, ...]],
        quantizer: RushlightQuantizer | None,
        kwargs: Mapping[str, Any] | None,
        dynamic_shapes: Any,
        keep_weights: bool = False,
    ) -> None:
        if not batches:
            raise InvalidArgument("calibration: expected inputs on which to measure the error, got none")
        self.source = (module, example_inputs, batches)
        self.how = {"kwargs": kwargs, "dynamic_shapes": dynamic_shapes}
        self.named = dict(kwargs or {})
        prepared = self._calibrated(quantizer or RushlightQuantizer())
        self.graph = QuantizedLayers(prepared, keep_weights=keep_weights)
        self.layers: dict[str, Layer] = self.graph.layers
        if not self.layers:
            raise InvalidArgument(
                "quantizer: expected one that quantizes a layer, got one that quantizes none"
            )
        with torch.no_grad():
            self.expected = [QuantizedLayers(prepared).run(each, ()) for each in self._inputs()]

    def error(self, quantized: Iterable[str]) -> float:
        """The error with these layers quantized."""
        names = frozenset(quantized)
        with torch.no_grad():
            return _error([self.graph.run(each, names) for each in self._inputs()], self.expected)

    def real_error(self, quantizer: RushlightQuantizer) -> float:
        """The error of the graph converted with a quantizer."""
        graph = convert(self._calibrated(quantizer))
        plain = QuantizedLayers(graph)
        with torch.no_grad():
            return _error([plain.run(each, ()) for each in self._inputs()], self.expected)

    def _inputs(self) -> list[tuple[Any, ...]]:
        """Positional inputs followed by the keyword inputs."""
        return [(*each, *self.named.values()) for each in self.source[2]]

    def _calibrated(self, quantizer: RushlightQuantizer) -> GraphModule:
        module, example_inputs, batches = self.source
        return calibrated(module, example_inputs, batches, quantizer, **self.how)


def _error(results: Sequence[Sequence[torch.Tensor]], expected: Sequence[Sequence[torch.Tensor]]) -> float:
    worst = 0.0
    for mine, theirs in zip(zip(*results, strict=True), zip(*expected, strict=True), strict=True):
        pairs = zip(mine, theirs, strict=True)
        apart = sum(float((a.double() - b.double()).square().sum()) for a, b in pairs)
        power = sum(float(each.double().square().sum()) for each in theirs)
        worst = max(worst, (apart / power) ** 0.5 if power else float(apart > 0))
    return worst
