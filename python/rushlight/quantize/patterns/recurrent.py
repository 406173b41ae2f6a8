# SPDX-License-Identifier: BSD-3-Clause
"""Recurrent layers as single operators: their inputs, weights and states."""

from __future__ import annotations

import operator
from typing import Any

from torch.fx import Node
from torchao.quantization.pt2e.quantizer import QuantizationSpecBase, SharedQuantizationSpec

from rushlight.quantize.patterns.base import annotate
from rushlight.quantize.recurrent_layer import recurrent_layer
from rushlight.quantize.specs import Specs, cell_of_recurrent_layer


def recurrent(node: Node, specs: Specs) -> bool:
    """Annotates a layer: the hidden states of all steps share a range, and so do the cells."""
    if node.target is not recurrent_layer:
        return False
    if specs.output() is None:
        return True
    given: Any = node.args[1:6]
    source, hidden, cell, weight, hidden_weight = given
    spec = {
        source: specs.activation(),
        hidden: specs.activation(),
        cell: cell_of_recurrent_layer(),
        weight: specs.weight(),
        hidden_weight: specs.weight(),
    }
    annotate(node, spec)
    shared: dict[Any, QuantizationSpecBase] = {
        0: SharedQuantizationSpec((hidden, node)),
        1: SharedQuantizationSpec((cell, node)),
        2: SharedQuantizationSpec((cell, node)),
    }
    for user in node.users:
        if user.target is operator.getitem:
            annotate(user, {}, shared[user.args[1]])
    return True
