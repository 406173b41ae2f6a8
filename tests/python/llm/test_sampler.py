# SPDX-License-Identifier: BSD-3-Clause
"""The sampler's choices equal a plain computation with the same random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rushlight.errors import InvalidArgument
from rushlight.llm import Sampler

pytestmark = pytest.mark.heavy


def uniform(seed: int) -> Iterator[float]:
    """SplitMix64."""
    mask = (1 << 64) - 1
    state = seed
    while True:
        state = state + 0x9E3779B97F4A7C15 & mask
        bits = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & mask
        yield (bits ^ bits >> 31) / 2**64


def probabilities(
    logits: np.ndarray, *, temperature: float, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0
) -> np.ndarray:
    scores = logits.astype(np.float64) / temperature
    weights = np.exp(scores - scores.max())
    order = np.lexsort((np.arange(len(weights)), -weights))
    kept = order[: top_k or len(order)]
    shares = np.cumsum(weights[kept]) / weights[kept].sum()
    kept = kept[: np.searchsorted(shares, top_p) + 1]
    kept = kept[weights[kept] >= min_p * weights[kept].max()]
    chosen = np.zeros(len(weights))
    chosen[kept] = weights[kept] / weights[kept].sum()
    return chosen


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 1.0},
        {"temperature": 0.7, "top_k": 40},
        {"temperature": 1.3, "top_p": 0.9},
        {"temperature": 1.0, "min_p": 0.05},
        {"temperature": 0.8, "top_k": 100, "top_p": 0.95, "min_p": 0.02},
    ],
    ids=str,
)
def test_tokens_are_drawn_by_their_probabilities(options: dict[str, float]) -> None:
    random = np.random.default_rng(5)
    sampler = Sampler(seed=2**64 - 7, **options)  # type: ignore[arg-type]
    for number in (number for number, _ in zip(uniform(2**64 - 7), range(300), strict=False)):
        logits = (random.standard_normal(3000) * 3).astype(np.float32)
        expected = np.searchsorted(np.cumsum(probabilities(logits, **options)), number, side="right")  # type: ignore[arg-type]
        assert sampler.sample(logits) == expected


def test_without_temperature_the_greatest_logit_is_taken() -> None:
    random = np.random.default_rng(1)
    sampler = Sampler()
    for _ in range(20):
        logits = random.standard_normal((1, 500)).astype(np.float32)
        assert sampler.sample(logits) == logits.argmax()


def test_recent_tokens_are_penalized() -> None:
    sampler = Sampler(repetition_penalty=1.5, repeat_last_n=3)
    assert sampler.sample([2.0, 1.9, -1.0], [0]) == 1
    assert sampler.sample([2.0, 1.9, -1.0], [0, 2, 2, 2]) == 0
    assert sampler.sample([-1.0, -1.2, -5.0], [0]) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("top_p", 1.5),
        ("min_p", -0.1),
        ("top_k", -1),
        ("repetition_penalty", 0),
        ("seed", 2**64),
        ("repeat_last_n", -1),
    ],
)
def test_options_out_of_their_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidArgument, match=f"{name}: expected"):
        Sampler(**{name: value})  # type: ignore[arg-type]


def test_no_logits_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="at least one number"):
        Sampler().sample([])
