# SPDX-License-Identifier: BSD-3-Clause
"""Tiny models of each family, saved by transformers: the exported program gives the logits of its eager mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.llm import export
from support import tiny_language_models as tiny

pytestmark = pytest.mark.heavy

TOKENS = [1, *np.random.default_rng(7).integers(3, 99, 40).tolist()]


def logits_of(path: Path, tokens: list[int], chunks: list[int]) -> np.ndarray:
    """Logits at the end of each chunk: prefill, then one token at a time."""
    program = rushlight.load(path)
    found, at = [], 0
    for count in chunks:
        part = np.array([tokens[at : at + count]], np.int64)
        (logits,) = program.forward(part, np.array([at], np.int64))
        found.append(np.array(logits)[0])
        at += count
    return np.array(found)


@pytest.mark.parametrize("name", tiny.MODELS)
def test_the_logits_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    model = tiny.make(name)
    folder = tiny.save(model, tmp_path / "model")
    path = export(folder, weights="float32", max_seq=16).save(tmp_path / "m.pte")
    chunks = [16, 5, 13, *[1] * 7]
    ends = np.cumsum(chunks) - 1
    expected = tiny.expected_logits(model, TOKENS)[ends]
    np.testing.assert_allclose(logits_of(path, TOKENS, chunks), expected, rtol=2e-4, atol=2e-4)
