# SPDX-License-Identifier: BSD-3-Clause
"""Products of two activations."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.config import Static
from rushlight.quantize.patterns.base import annotate, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
_OPERATORS = {aten.matmul.default, aten.bmm.default, aten.mm.default}


def matmul(node: Node, specs: Specs) -> bool:
    """Annotates a product if the scheme sets `matmul`."""
    if node.target not in _OPERATORS:
        return False
    first, second = node.args[:2]
    wanted = isinstance(specs.scheme, Static) and specs.scheme.matmul
    if wanted and is_float(first) and is_float(second):
        annotate(node, {first: specs.activation(), second: specs.activation()}, specs.output())
    return True
