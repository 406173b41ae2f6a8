# SPDX-License-Identifier: BSD-3-Clause
"""Compiles vocabularies to the blob that rushlight.llm.Tokenizer reads: the named data KEY of a program.

    from_tokenizer_json(document, config)    Hugging Face's tokenizer.json
    from_gguf(metadata)                      a GGUF file's tokenizer.ggml.*
    from_sentencepiece(data)                 SentencePiece's tokenizer.model

Comes with `pip install 'rushlight[llm]'`.
"""

from __future__ import annotations

from rushlight.errors import MissingDependency

try:
    from rushlight.llm.vocabulary.gguf_metadata import from_gguf
    from rushlight.llm.vocabulary.sentencepiece_model import from_sentencepiece
    from rushlight.llm.vocabulary.tokenizer_json import from_tokenizer_json
except ModuleNotFoundError as missing:
    raise MissingDependency(missing.name or "regex", "llm") from missing

KEY = "rushlight.vocabulary"

__all__ = ["KEY", "from_gguf", "from_sentencepiece", "from_tokenizer_json"]
