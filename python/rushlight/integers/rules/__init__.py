# SPDX-License-Identifier: BSD-3-Clause
"""The rules, by the operator in the middle of what they know."""

from __future__ import annotations

from collections.abc import Mapping

from rushlight.integers.rules import attention, averages, movement, norm, pairs, products, tables
from rushlight.integers.rules.base import Refusal, Rule, Settings

__all__ = ["RULES", "Refusal", "Rule", "Settings"]

RULES: Mapping[str, Rule] = {
    **attention.RULES,
    **averages.RULES,
    **products.RULES,
    **norm.RULES,
    **pairs.RULES,
    **movement.RULES,
    **tables.RULES,
}
