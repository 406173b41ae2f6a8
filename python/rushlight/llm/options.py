# SPDX-License-Identifier: BSD-3-Clause
"""Options of text generation."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rushlight.errors import InvalidArgument

_ALL = (1 << 64) - 1
_INT32 = (1 << 31) - 1

_RANGES: dict[str, tuple[float, float]] = {
    "max_tokens": (1, _ALL),
    "temperature": (0, 100),
    "top_k": (0, _INT32),
    "top_p": (0, 1),
    "min_p": (0, 1),
    "repetition_penalty": (0.01, 100),
    "repeat_last_n": (0, _INT32),
    "seed": (0, _ALL),
    "keep": (0, _ALL),
}
"""The minimum and maximum of each option."""


@dataclass(frozen=True)
class Options:
    """
    max_tokens: maximum number of generated tokens; None: until the text ends or the context is full.
    temperature: 0 takes the most likely token; higher values make the choice more random.
    top_k: choose among this number of most likely tokens; 0: all.
    top_p: choose among the most likely tokens whose probabilities add up to this.
    min_p: choose among tokens with at least this share of the most likely token's probability.
    repetition_penalty: divides the scores of the last `repeat_last_n` tokens; 1: no penalty.
    seed: the same seed gives the same text; None: a random one.
    stop: texts that end the generation and are not part of it.
    ignore_end: continue after the model's end token.
    shift: when the context is full, keep the first `keep` tokens and the newest half, and continue.
    logprobs: pieces have the natural logarithm of their token's probability before all options above.
    """

    max_tokens: int | None = None
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repetition_penalty: float = 1.0
    repeat_last_n: int = 64
    seed: int | None = None
    stop: str | Sequence[str] = ()
    ignore_end: bool = False
    shift: bool = False
    keep: int = 0
    logprobs: bool = False

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            self._check_number(name, getattr(self, name), least, most)
        if not isinstance(self.stop, str) and not all(isinstance(text, str) for text in self.stop):
            raise InvalidArgument(f"stop: expected texts, got {self.stop!r:.80}")

    def _check_number(self, name: str, value: Any, least: float, most: float) -> None:
        if value is None and name in ("max_tokens", "seed"):
            return
        whole = isinstance(getattr(Options, name), int) or name in ("max_tokens", "seed")
        kinds = (int,) if whole else (int, float)
        right = isinstance(value, kinds) and not isinstance(value, bool)
        if not right or not math.isfinite(value) or not least <= value <= most:
            kind = "a whole number" if whole else "a number"
            raise InvalidArgument(f"{name}: expected {kind} from {least} to {most}, got {value!r:.40}")

    @property
    def stops(self) -> list[str]:
        """The stop texts as a list."""
        return [self.stop] if isinstance(self.stop, str) else list(self.stop)

    def for_native(self) -> dict[str, Any]:
        """The options in the form that the native generator takes."""
        given = asdict(self)
        given["max_tokens"] = _ALL if self.max_tokens is None else self.max_tokens
        given["seed"] = secrets.randbits(64) if self.seed is None else self.seed
        given["stop"] = self.stops
        given["stops_at_end"] = not given.pop("ignore_end")
        given["shifts"] = given.pop("shift")
        return given
