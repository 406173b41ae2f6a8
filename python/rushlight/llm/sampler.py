# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the next token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rushlight.errors import InvalidArgument
from rushlight.runtime.native import default_module

if TYPE_CHECKING:
    from rushlight import _runtime


class Sampler:
    """Chooses tokens by their logits. Equal logits and seeds give equal tokens on every machine.

    Args:
        temperature: 0 takes the greatest logit; otherwise logits are divided by it.
        top_k: choose among this number of most likely tokens; 0: all.
        top_p: of these, the most likely whose probabilities add up to this share.
        min_p: of these, tokens with at least this share of the most likely token's probability.
        repetition_penalty: divides the positive logits of recent tokens and multiplies negative ones.
        repeat_last_n: the number of recent tokens.
        seed: a 64-bit integer for the random numbers.

    Errors: InvalidArgument for an option out of range.
    """

    def __init__(
        self,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
        repeat_last_n: int = 64,
        seed: int = 0,
    ) -> None:
        ranges = {
            "temperature": (temperature, 0, math.inf),
            "top_k": (top_k, 0, 2**31 - 1),
            "top_p": (top_p, 0, 1),
            "min_p": (min_p, 0, 1),
            "repetition_penalty": (repetition_penalty, 0, math.inf),
            "repeat_last_n": (repeat_last_n, 0, 2**63),
            "seed": (seed, 0, 2**64 - 1),
        }
        for name, (value, least, most) in ranges.items():
            if not least <= value <= most or value == math.inf:
                raise InvalidArgument(f"{name}: expected {least} to {most}, got {value}")
        if repetition_penalty == 0:
            raise InvalidArgument("repetition_penalty: expected more than 0, got 0")
        self._native: _runtime.Sampler = default_module().Sampler(
            temperature, top_k, top_p, min_p, repetition_penalty, repeat_last_n, seed
        )

    def sample(self, logits: ArrayLike, recent: Sequence[int] = ()) -> int:
        """The index of the chosen logit in `logits`. `recent`: the preceding tokens, the newest last. Errors:
        InvalidArgument."""
        scores = np.asarray(logits, np.float32).reshape(-1)
        if not scores.size:
            raise InvalidArgument("logits: expected at least one number, got none")
        return self._native.sample(scores, list(recent))
