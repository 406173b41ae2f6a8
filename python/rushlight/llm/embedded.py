# SPDX-License-Identifier: BSD-3-Clause
"""What a program carries beside its weights, so that a conversation needs no other file: the vocabulary."""

from __future__ import annotations

import os
from pathlib import Path

from rushlight.llm.vocabulary import KEY
from rushlight.llm.vocabulary.files import vocabulary_of_file
from rushlight.llm.weights.source import WeightSource


def embedded_data(source: WeightSource, tokenizer: str | os.PathLike[str] | None) -> dict[str, bytes]:
    """Named data by key; without the vocabulary where neither the source nor the caller has a tokenizer.

    Errors: InvalidArgument for a tokenizer that cannot be compiled.
    """
    vocabulary = source.vocabulary() if tokenizer is None else vocabulary_of_file(Path(tokenizer))
    return {} if vocabulary is None else {KEY: vocabulary}
