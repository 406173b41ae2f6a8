# SPDX-License-Identifier: BSD-3-Clause
"""All that is timed, by name: models and operators."""

from __future__ import annotations

from networks import MODELS
from operators import MEMORY, OPERATORS

SUBJECTS = {**MODELS, **OPERATORS}

__all__ = ["MEMORY", "MODELS", "OPERATORS", "SUBJECTS"]
