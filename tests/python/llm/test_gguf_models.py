# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files of each type and family: the exported program gives the logits of transformers with the file's
numbers put in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
gguf = pytest.importorskip("gguf", reason="gguf is not installed")

import rushlight  # noqa: E402
from rushlight.llm import export  # noqa: E402
from rushlight.program import read_program  # noqa: E402
from support import family_models as tiny  # noqa: E402
from support.gguf_models import write_gguf  # noqa: E402
from support.llm_programs import logits_of  # noqa: E402

pytestmark = pytest.mark.heavy

Type = gguf.GGMLQuantizationType
FLOATS = ["F32", "F16", "BF16"]
SMALL = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]
LARGE = ["Q4_K", "Q5_K", "Q6_K"]
WIDE = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2}
TOKENS = [1, *np.random.default_rng(7).integers(3, 99, 40).tolist()]


def check(model: object, path: Path, tmp_path: Path, share: float) -> None:
    """The logits differ by less than a share of the largest one."""
    program = export(path, max_seq=16).save(tmp_path / "m.pte")
    expected = tiny.expected_logits(model, TOKENS)[[15, 30, 39, 40]]
    found = logits_of(program, TOKENS, [16, 15, 9, 1])
    assert np.abs(found - expected).max() < share * np.abs(expected).max()


@pytest.mark.parametrize("kind", [*FLOATS, *SMALL, *LARGE])
def test_each_type_keeps_its_numbers(kind: str, tmp_path: Path) -> None:
    model = tiny.make("llama", **(WIDE if kind in LARGE else {}))
    path = tmp_path / "model.gguf"
    write_gguf(model, "llama", path, lambda name: Type[kind])
    check(model, path, tmp_path, 1e-4 if kind in FLOATS else 1e-3)


@pytest.mark.parametrize("name", ["smollm3", "qwen2", "qwen3", "gemma", "gemma2", "gemma3"])
def test_each_family_is_known(name: str, tmp_path: Path) -> None:
    sizes = {"query_pre_attn_scalar": 16} if name in ("gemma2", "gemma3") else {}
    model = tiny.make(name, **sizes)
    path = tmp_path / "model.gguf"
    write_gguf(model, name, path, lambda _: Type.F32)
    check(model, path, tmp_path, 1e-4)


def test_a_file_of_mixed_types_keeps_each(tmp_path: Path) -> None:
    model = tiny.make("llama", **WIDE)
    path = tmp_path / "model.gguf"
    wider = {"attn_v": Type.Q6_K, "ffn_down": Type.Q6_K, "token_embd": Type.Q8_0, "ffn_up": Type.Q5_0}
    write_gguf(model, "llama", path, lambda name: wider.get(name.split(".")[-2], Type.Q4_K))
    check(model, path, tmp_path, 1e-3)
    calls = [name for name, _ in read_program(export(path).buffer).method("forward").calls()]
    assert calls.count("aten::cat.out") == 4  # queries and keys beside values, gates beside the others


def test_llama_3_stretches_positions_by_a_tensor(tmp_path: Path) -> None:
    model = tiny.make("llama3")
    path = tmp_path / "model.gguf"
    plain = 10000.0 ** -(np.arange(0, 16, 2, dtype=np.float32) / 16)
    divisors = (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32)
    assert divisors.max() > 2
    write_gguf(model, "llama", path, lambda _: Type.F32, {"rope_freqs.weight": divisors})
    check(model, path, tmp_path, 1e-4)


def test_the_file_says_where_texts_end(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(tiny.make("llama"), "llama", path, lambda _: Type.F32)
    program = rushlight.load(export(path).buffer)
    assert program.load_method("get_bos_id").execute([]) == [1]
    assert program.load_method("get_eos_ids").execute([]) == [2]
