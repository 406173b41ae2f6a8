# SPDX-License-Identifier: BSD-3-Clause
"""Language models: export, tokenizer, sampler and chat template. Running needs numpy only."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # of what is loaded lazily
    from rushlight.llm.chat_template import ChatTemplate
    from rushlight.llm.exporter import LlmProgram, export
    from rushlight.llm.sampler import Sampler
    from rushlight.llm.tokenizer import Tokenizer

_LAZY = {
    "ChatTemplate": "rushlight.llm.chat_template",
    "LlmProgram": "rushlight.llm.exporter",
    "Sampler": "rushlight.llm.sampler",
    "Tokenizer": "rushlight.llm.tokenizer",
    "export": "rushlight.llm.exporter",
}

__all__ = ["ChatTemplate", "LlmProgram", "Sampler", "Tokenizer", "export"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'rushlight.llm' has no attribute '{name}'")
    return getattr(importlib.import_module(_LAZY[name]), name)
