# SPDX-License-Identifier: BSD-3-Clause
"""The rules, keyed by the central operator of their pattern."""

from __future__ import annotations

from collections.abc import Mapping

from rushlight.integers.rules import (
    attention,
    averages,
    images,
    layers,
    movement,
    norm,
    pairs,
    products,
    scaled_products,
    tables,
)
from rushlight.integers.rules.base import Refusal, Rule, Settings, first_of

__all__ = ["RULES", "WHOLE_RULES", "Refusal", "Rule", "Settings"]

RULES: Mapping[str, Rule] = {
    **attention.RULES,
    **averages.RULES,
    **images.RULES,
    **products.RULES,
    **norm.RULES,
    **pairs.RULES,
    **movement.RULES,
    **tables.RULES,
    "aten::linear": first_of(products.linear, layers.linear),
    "aten::mul": first_of(norm.rms_norm, pairs.multiply),
    "aten::mm": first_of(products.matrix_product, attention.matmul),
}

WHOLE_RULES: Mapping[str, Rule] = {**layers.RULES, **scaled_products.RULES}
"""Rules for patterns that exist only before decomposition."""
