# SPDX-License-Identifier: BSD-3-Clause
"""Tiny models of each family, saved by transformers: exported programs give the logits of its eager mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from rushlight.llm import export  # noqa: E402
from rushlight.llm.rounding import INT4, INT8, round_to_blocks  # noqa: E402
from support import family_models as tiny  # noqa: E402
from support.llm_programs import logits_of  # noqa: E402

pytestmark = pytest.mark.heavy

TOKENS = [1, *np.random.default_rng(7).integers(3, 99, 40).tolist()]


@pytest.mark.parametrize("name", tiny.MODELS)
def test_the_logits_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    model = tiny.make(name)
    folder = tiny.save(model, tmp_path / "model")
    path = export(folder, weights="float32", max_seq=16).save(tmp_path / "m.pte")
    chunks = [16, 5, 13, *[1] * 7]
    ends = np.cumsum(chunks) - 1
    expected = tiny.expected_logits(model, TOKENS)[ends]
    np.testing.assert_allclose(logits_of(path, TOKENS, chunks), expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", ["llama_untied_biases", "gemma3"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_weights_are_kept_in_float16(name: str, dtype: str, tmp_path: Path) -> None:
    model = tiny.make(name).to(getattr(torch, dtype))
    folder = tiny.save(model, tmp_path / "model")
    program = export(folder, weights="keep", max_seq=16)
    path = program.save(tmp_path / "m.pte")
    expected = tiny.expected_logits(tiny.load(folder), TOKENS)[[15, 30, 40]]
    np.testing.assert_allclose(logits_of(path, TOKENS, [16, 15, 10]), expected, rtol=2e-4, atol=2e-4)
    numbers = sum(parameter.numel() for parameter in model.parameters())
    assert program.report.parameters == numbers
    assert program.report.constant_bytes < 2.3 * numbers


@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma2"])
@pytest.mark.parametrize("weights", ["int4", "int8"])
@pytest.mark.parametrize("activation_bits", [16, 8])
def test_rounded_weights_give_the_logits_of_the_same_numbers(
    name: str, weights: str, activation_bits: int, tmp_path: Path
) -> None:
    model = tiny.make(name)
    folder = tiny.save(model, tmp_path / "model")
    chosen = {"weights": weights, "max_seq": 16, "activation_bits": activation_bits}
    path = export(folder, **chosen).save(tmp_path / "m.pte")
    form = {"int4": INT4, "int8": INT8}[weights]
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if parameter.dim() == 2:
                used = INT8 if "embed" in key or "lm_head" in key else form
                rounded = round_to_blocks(parameter.numpy(), used).values()
                parameter.copy_(torch.from_numpy(rounded))
    expected = tiny.expected_logits(model, TOKENS)[[15, 30, 40]]
    found = logits_of(path, TOKENS, [16, 15, 10])
    share = {16: 1e-3, 8: 4e-2}[activation_bits]
    assert np.abs(found - expected).max() < share * np.abs(expected).max()
