# SPDX-License-Identifier: BSD-3-Clause
"""Vocabulary and chat template as named data of a program, so that text generation needs no other file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from rushlight.errors import InvalidArgument
from rushlight.llm import template, vocabulary
from rushlight.llm.vocabulary.files import vocabulary_of_file
from rushlight.llm.weights.source import WeightSource


@dataclass
class Embedded:
    """Named data by key, and remarks that say why some are left out."""

    data: dict[str, bytes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def embedded_data(source: WeightSource, tokenizer: str | os.PathLike[str] | None) -> Embedded:
    """The vocabulary of the source, or of the tokenizer.json given by the caller, and the source's chat
    template. A template that cannot be compiled is left out: a model without one can still complete texts.

    Errors: InvalidArgument for a vocabulary that cannot be compiled; MissingDependency.
    """
    made = Embedded()
    words = source.vocabulary() if tokenizer is None else vocabulary_of_file(Path(tokenizer))
    if words is None:
        made.remarks.append("no tokenizer: the source has none")
    else:
        made.data[vocabulary.KEY] = words
    try:
        found = source.chat_template()
    except InvalidArgument as error:
        made.remarks.append(f"no chat template: {error.message}")
        return made
    if found is None:
        made.remarks.append("no chat template: the source has none")
    else:
        made.data[template.KEY] = found
    return made
