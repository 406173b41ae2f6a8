# SPDX-License-Identifier: BSD-3-Clause
"""Runs exported language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import rushlight


def logits_of(path: Path, tokens: Sequence[int], chunks: Sequence[int]) -> np.ndarray:
    """The logits at the end of each chunk of the tokens: prefill, then one token at a time, as it is cut."""
    program = rushlight.load(path)
    found, at = [], 0
    for count in chunks:
        part = np.array([tokens[at : at + count]], np.int64)
        (logits,) = program.forward(part, np.array([at], np.int64))
        found.append(np.array(logits)[0])
        at += count
    return np.array(found)
