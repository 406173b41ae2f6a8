# SPDX-License-Identifier: BSD-3-Clause
"""Language models: text from programs.

    model = rushlight.llm.load("m.pte")
    for piece in model.generate("Once upon a time", max_tokens=100):
        print(piece.text, end="", flush=True)
    chat = model.chat(system="Answer in one sentence.")
    print(chat.say("What is a cache?").read())

Running needs numpy only.
"""

from rushlight.llm.chat import Chat
from rushlight.llm.chat_template import ChatTemplate
from rushlight.llm.generation import Generation, Piece
from rushlight.llm.options import Options
from rushlight.llm.sampler import Sampler
from rushlight.llm.statistics import Statistics
from rushlight.llm.text_model import TextModel, load
from rushlight.llm.tokenizer import Tokenizer

__all__ = [
    "Chat",
    "ChatTemplate",
    "Generation",
    "Options",
    "Piece",
    "Sampler",
    "Statistics",
    "TextModel",
    "Tokenizer",
    "load",
]
