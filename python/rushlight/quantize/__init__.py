# SPDX-License-Identifier: BSD-3-Clause
"""Quantization through torchao's pt2e flow: which operators, which schemes, and whole flows in one call."""

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
