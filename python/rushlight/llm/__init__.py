# SPDX-License-Identifier: BSD-3-Clause
"""Language models: export, tokenizer, sampler and chat template. Running needs numpy only."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # of what is loaded lazily
    from rushlight.llm.exporter import LlmProgram, export

_LAZY = {
    "LlmProgram": "rushlight.llm.exporter",
    "export": "rushlight.llm.exporter",
}

__all__ = ["LlmProgram", "export"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'rushlight.llm' has no attribute '{name}'")
    return getattr(importlib.import_module(_LAZY[name]), name)
