# SPDX-License-Identifier: BSD-3-Clause
"""cat and stack: each input keeps the range of what computed it, the output has one of its own.

One range for all would save a kernel the rescaling, but costs the narrow inputs their steps, and through
them all that reads or computes them: a recurrent state beside a wide input is left with a few bits.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
_OPERATORS = {aten.cat.default, aten.stack.default, aten.concat.default}


def cat(node: Node, specs: Specs) -> bool:
    """Quantized by static schemes."""
    if node.target not in _OPERATORS or not is_float(node):
        return False
    sources: Any = node.args[0]
    if specs.output() is not None and all(map(is_float, sources)):
        annotate(node, dict.fromkeys(sources, specs.activation()), specs.output())
    return True
