# SPDX-License-Identifier: BSD-3-Clause
"""cat and stack: each input keeps the range of its producer, and the output has its own range.

One common range would save the kernel a requantization, but it costs narrow inputs their resolution, and
with it all other readers of those inputs: a recurrent state next to a wide input would keep only a few
bits.
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
    """Annotates cat and stack for static schemes."""
    if node.target not in _OPERATORS or not is_float(node):
        return False
    sources: Any = node.args[0]
    if specs.output() is not None and all(map(is_float, sources)):
        annotate(node, dict.fromkeys(sources, specs.activation()), specs.output())
    return True
