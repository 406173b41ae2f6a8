# SPDX-License-Identifier: BSD-3-Clause
"""Language models: tokenizer, sampler and chat template. Running needs numpy only."""

from __future__ import annotations

from rushlight.llm.chat_template import ChatTemplate
from rushlight.llm.sampler import Sampler
from rushlight.llm.tokenizer import Tokenizer

__all__ = ["ChatTemplate", "Sampler", "Tokenizer"]
