# SPDX-License-Identifier: BSD-3-Clause
"""All subjects by name: models, models in int8, and operators."""

from __future__ import annotations

from networks import BRANCHES, MODELS, RECURRENT, UNSEEN
from operators import MEMORY, OPERATORS
from quantized import INT8

SUBJECTS = {**MODELS, **UNSEEN, **BRANCHES, **RECURRENT, **INT8, **OPERATORS}

__all__ = [
    "BRANCHES",
    "INT8",
    "MEMORY",
    "MODELS",
    "OPERATORS",
    "RECURRENT",
    "SUBJECTS",
    "UNSEEN",
    "kind_of",
]


def kind_of(name: str) -> str:
    """The kind of a subject: model, unseen, branches, recurrent, int8, memory (bound by moving bytes) or
    compute."""
    if name in MODELS:
        return "model"
    if name in UNSEEN:
        return "unseen"
    if name in BRANCHES:
        return "branches"
    if name in RECURRENT:
        return "recurrent"
    if name in INT8:
        return "int8"
    return "memory" if name in MEMORY else "compute"
