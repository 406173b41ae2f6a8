# SPDX-License-Identifier: BSD-3-Clause
"""The official quantized programs of tests/interop, and variants of them for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rushlight.program import parts_of, read_program, write_program
from rushlight.program.model import KernelCall

INTEROP = Path(__file__).parents[1] / "interop"

SHAPES = {"model_dscnn_int8": (1, 1, 49, 10), "model_resnet8_int8": (1, 3, 32, 32)}
"""Shapes of their inputs."""

PLANNED = {"model_dscnn_int8": 16000, "model_resnet8_int8": 49152}
"""Bytes of planned memory of the same networks when rushlight exports them."""


def model(name: str) -> Path:
    """The program's file."""
    return INTEROP / name / "model.pte"


def before_softmax(data: bytes) -> bytes:
    """A program without its last two calls: it returns the integers of the last layer."""
    parts = parts_of(read_program(data))
    (plan,) = parts.methods
    *calls, dequantize, softmax = plan.instructions
    assert isinstance(dequantize, KernelCall) and isinstance(softmax, KernelCall)
    short = replace(plan, chains=(tuple(calls),), outputs=(dequantize.arguments[0],))
    return write_program(replace(parts, methods=(short,))).tobytes()
