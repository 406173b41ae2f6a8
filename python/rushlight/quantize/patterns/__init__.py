# SPDX-License-Identifier: BSD-3-Clause
"""The patterns that annotate operators for quantization, one per file."""

from rushlight.quantize.patterns.activation import activation, tabulated
from rushlight.quantize.patterns.base import Pattern
from rushlight.quantize.patterns.cat import cat
from rushlight.quantize.patterns.convolution import convolution
from rushlight.quantize.patterns.elementwise import elementwise
from rushlight.quantize.patterns.embedding import embedding
from rushlight.quantize.patterns.linear import linear
from rushlight.quantize.patterns.matmul import matmul
from rushlight.quantize.patterns.mean import mean
from rushlight.quantize.patterns.moving import moving
from rushlight.quantize.patterns.norm import norm
from rushlight.quantize.patterns.recurrent import recurrent
from rushlight.quantize.patterns.softmax import softmax

# The first pattern that accepts a node annotates it. Nodes are visited in graph order, so that `moving` finds
# the annotation of its input.
PATTERNS: tuple[Pattern, ...] = (
    convolution,
    linear,
    recurrent,
    embedding,
    matmul,
    elementwise,
    mean,
    cat,
    softmax,
    norm,
    activation,
    tabulated,
    moving,
)

__all__ = ["PATTERNS", "Pattern"]
