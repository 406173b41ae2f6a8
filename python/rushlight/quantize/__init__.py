# SPDX-License-Identifier: BSD-3-Clause
"""Quantization through torchao's pt2e flow. Callable: `rushlight.quantize(model, inputs, ...)`."""

from rushlight.callable_module import make_callable
from rushlight.quantize.api import convert, prepare, prepare_training, quantize
from rushlight.quantize.config import Dynamic, Scheme, Static, WeightOnly
from rushlight.quantize.quantizer import RushlightQuantizer

__all__ = [
    "Dynamic",
    "RushlightQuantizer",
    "Scheme",
    "Static",
    "WeightOnly",
    "convert",
    "prepare",
    "prepare_training",
    "quantize",
]

make_callable(__name__)
