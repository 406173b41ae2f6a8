# SPDX-License-Identifier: BSD-3-Clause
"""Options for exporting a language model."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.errors import InvalidArgument
from rushlight.llm.products import WEIGHTS

CACHES = ("float32", "float16", "int8")
"""dtypes of cached keys and values; int8 has a scale for each position and head."""

RUNTIMES = ("rushlight", "executorch")
"""The runtimes whose operators a program may call."""

DEFAULT_CONTEXT = 2048
DEFAULT_MAX_SEQ = 256


@dataclass(frozen=True)
class LlmOptions:
    """See rushlight.llm.export."""

    weights: str
    embeddings: str
    context: int
    max_seq: int = DEFAULT_MAX_SEQ
    cache: str = "float32"
    activation_bits: int = 16
    runtime: str = "rushlight"

    def __post_init__(self) -> None:
        """Errors: InvalidArgument."""
        _check_word("weights", self.weights, WEIGHTS)
        _check_word("embeddings", self.embeddings, WEIGHTS)
        _check_word("cache", self.cache, CACHES)
        _check_word("runtime", self.runtime, RUNTIMES)
        if self.runtime == "executorch" and self.cache != "float32":
            raise InvalidArgument(f"cache: expected float32 for the runtime executorch, got '{self.cache}'")
        if self.activation_bits not in (8, 16):
            raise InvalidArgument(f"activations: expected 8 or 16 bits, got {self.activation_bits}")
        if self.context < 1:
            raise InvalidArgument(f"context: expected at least 1 position, got {self.context}")
        if not 1 <= self.max_seq <= self.context:
            raise InvalidArgument(
                f"tokens of a call: expected from 1 to the context of {self.context}, got {self.max_seq}"
            )


def _check_word(what: str, found: str, known: tuple[str, ...]) -> None:
    if found not in known:
        raise InvalidArgument(f"{what}: expected {', '.join(known[:-1])} or {known[-1]}, got '{found}'")
