# SPDX-License-Identifier: BSD-3-Clause
"""Runs exported language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import rushlight


def logits_of(path: Path, tokens: Sequence[int], chunks: Sequence[int]) -> np.ndarray:
    """The logits at the end of each chunk of the tokens: prefill or single tokens, as `chunks` says."""
    program = rushlight.load(path)
    found, at = [], 0
    for count in chunks:
        part = np.array([tokens[at : at + count]], np.int64)
        (logits,) = program.forward(part, np.array([at], np.int64))
        found.append(np.array(logits)[0])
        at += count
    return np.array(found)


class OfficialProgram:
    """An exported language model in the official runtime, with its libraries of quantized and of language
    model operators."""

    def __init__(self, path: Path) -> None:
        import executorch.kernels.quantized  # noqa: F401  # both load a library
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
        from executorch.runtime import Runtime

        self._method = Runtime.get().load_program(path).load_method("forward")

    def logits(self, tokens: Sequence[int], at: int) -> np.ndarray:
        """The logits of the last of these tokens; the first one is at position `at`."""
        import torch

        (logits,) = self._method.execute([torch.tensor([list(tokens)]), torch.tensor([at])])
        found: np.ndarray = logits[0].numpy().copy()
        return found
