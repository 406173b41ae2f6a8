# SPDX-License-Identifier: BSD-3-Clause
"""Tokens, time and memory of a generation."""

from __future__ import annotations

import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Statistics:
    """Tokens and times of one generation so far, and the process's peak memory.

    `cached_tokens` of the prompt were already in the cache. `evaluated_tokens` were evaluated, including
    tokens that were evaluated again after a context shift. `decoded_tokens` are the generated tokens
    except the first after a prompt or a shift.
    """

    prompt_tokens: int
    cached_tokens: int
    evaluated_tokens: int
    generated_tokens: int
    decoded_tokens: int
    first_token_seconds: float
    prefill_seconds: float
    decode_seconds: float
    peak_memory: int
    """The peak resident memory of the whole process in bytes; mapped weights count once read."""

    @classmethod
    def of(cls, native: dict[str, int]) -> Statistics:
        seconds: dict[str, Any] = {
            name.removesuffix("_ns") + "_seconds": value / 1e9
            for name, value in native.items()
            if name.endswith("_ns")
        }
        counts: dict[str, Any] = {name: n for name, n in native.items() if not name.endswith("_ns")}
        return cls(**counts, **seconds, peak_memory=peak_memory())

    @property
    def prefill_rate(self) -> float:
        """Evaluated prompt tokens per second."""
        return self.evaluated_tokens / self.prefill_seconds if self.prefill_seconds else 0.0

    @property
    def decode_rate(self) -> float:
        """Decoded tokens per second."""
        return self.decoded_tokens / self.decode_seconds if self.decode_seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "prefill_rate": self.prefill_rate, "decode_rate": self.decode_rate}

    def __str__(self) -> str:
        cached = f" ({self.cached_tokens} cached)" if self.cached_tokens else ""
        return (
            f"{self.prompt_tokens} tokens{cached} at {self.prefill_rate:,.1f}/s, "
            f"first after {self.first_token_seconds * 1000:,.0f} ms, "
            f"{self.generated_tokens} generated at {self.decode_rate:,.1f}/s, "
            f"peak memory {self.peak_memory / 1e6:,.0f} MB"
        )


def peak_memory() -> int:
    """The peak resident memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
