# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings: only their tables are quantized."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.config import WeightOnly
from rushlight.quantize.patterns.base import annotate, is_constant, is_float
from rushlight.quantize.specs import Specs


def embedding(node: Node, specs: Specs) -> bool:
    """Annotates an embedding for WeightOnly; other schemes leave it in float, because it computes nothing."""
    if node.target is not torch.ops.aten.embedding.default:
        return False
    table = node.args[0]
    if isinstance(specs.scheme, WeightOnly) and is_float(table) and is_constant(table):
        annotate(node, {table: specs.weight()})
    return True
