# SPDX-License-Identifier: BSD-3-Clause
"""Language models: programs from weights, and text from programs.

    rushlight.llm.export("SmolLM2.gguf").save("m.pte")

    model = rushlight.llm.load("m.pte")
    for piece in model.generate("Once upon a time", max_tokens=100):
        print(piece.text, end="", flush=True)
    chat = model.chat(system="Answer in one sentence.")
    print(chat.say("What is a cache?").read())

Running needs numpy only; exporting needs the extra `llm`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rushlight.llm.chat import Chat
from rushlight.llm.chat_template import ChatTemplate
from rushlight.llm.generation import Generation, Piece
from rushlight.llm.options import Options
from rushlight.llm.sampler import Sampler
from rushlight.llm.statistics import Statistics
from rushlight.llm.text_model import TextModel, load
from rushlight.llm.tokenizer import Tokenizer

if TYPE_CHECKING:  # imported on first use
    from rushlight.llm.exporter import LlmProgram, export

__all__ = [
    "Chat",
    "ChatTemplate",
    "Generation",
    "LlmProgram",
    "Options",
    "Piece",
    "Sampler",
    "Statistics",
    "TextModel",
    "Tokenizer",
    "export",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in ("LlmProgram", "export"):
        raise AttributeError(f"module 'rushlight.llm' has no attribute '{name}'")
    return getattr(importlib.import_module("rushlight.llm.exporter"), name)
