# SPDX-License-Identifier: BSD-3-Clause
"""Quantization with torchao's pt2e flow. The module is callable: `rushlight.quantize(model, inputs, ...)`."""

from rushlight.callable_module import make_callable
from rushlight.quantize import requirements  # noqa: F401
from rushlight.quantize.api import convert, prepare, prepare_training, quantize
from rushlight.quantize.config import Dynamic, Scheme, Static, WeightOnly
from rushlight.quantize.mixed import MixedPrecision, mixed_precision
from rushlight.quantize.quantizer import RushlightQuantizer
from rushlight.quantize.ranges import Ranges, ranges
from rushlight.quantize.sensitivity import Sensitivity, sensitivity
from rushlight.quantize.summary import QuantizationWarning, Report, report

__all__ = [
    "Dynamic",
    "MixedPrecision",
    "QuantizationWarning",
    "Ranges",
    "Report",
    "RushlightQuantizer",
    "Scheme",
    "Sensitivity",
    "Static",
    "WeightOnly",
    "convert",
    "mixed_precision",
    "prepare",
    "prepare_training",
    "quantize",
    "ranges",
    "report",
    "sensitivity",
]

make_callable(__name__)
