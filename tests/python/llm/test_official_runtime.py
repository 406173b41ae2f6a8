# SPDX-License-Identifier: BSD-3-Clause
"""Models exported for the official runtime: its own logits, and ours of the same file, are transformers'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("executorch", reason="executorch is not installed")
gguf = pytest.importorskip("gguf", reason="gguf is not installed")

from rushlight.llm import export  # noqa: E402
from support import family_models as tiny  # noqa: E402
from support.gguf_models import write_gguf  # noqa: E402
from support.llm_programs import OfficialProgram, logits_of  # noqa: E402

pytestmark = pytest.mark.heavy

Type = gguf.GGMLQuantizationType
TOKENS = [1, *np.random.default_rng(7).integers(3, 99, 40).tolist()]
CHUNKS = [16, 15, 9, 1]
ENDS = [15, 30, 39, 40]


def official_logits(path: Path) -> np.ndarray:
    program = OfficialProgram(path)
    starts = [0, *np.cumsum(CHUNKS)]
    return np.array([program.logits(TOKENS[at : at + n], at) for at, n in zip(starts, CHUNKS, strict=False)])


def check(model: Any, source: Path, tmp_path: Path, **options: Any) -> None:
    path = export(source, max_seq=16, runtime="executorch", **options).save(tmp_path / "m.pte")
    expected = tiny.expected_logits(model, TOKENS)[ENDS]
    most = 2e-4 * np.abs(expected).max()
    np.testing.assert_allclose(official_logits(path), expected, atol=most)
    np.testing.assert_allclose(logits_of(path, TOKENS, CHUNKS), expected, atol=most)


@pytest.mark.parametrize("name", tiny.MODELS)
def test_each_family_runs_there(name: str, tmp_path: Path) -> None:
    model = tiny.make(name)
    check(model, tiny.save(model, tmp_path / "model"), tmp_path, weights="float32")


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "Q4_0", "Q4_1", "Q5_1", "Q4_K", "Q6_K"])
def test_block_weights_keep_their_numbers(kind: str, tmp_path: Path) -> None:
    wide = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2} if "_K" in kind else {}
    model = tiny.make("llama", **wide)
    path = tmp_path / "model.gguf"
    write_gguf(model, "llama", path, lambda name: Type[kind])
    check(model, path, tmp_path)
