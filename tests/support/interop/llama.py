# SPDX-License-Identifier: BSD-3-Clause
"""Small language models with random weights, exported by the official package's example: through its
functions, as its command line needs files of a real model, and with all its steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
from executorch.examples.models.llama.export_llama_lib import _export_llama
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  the official runtime's kernels
from executorch.extension.llm.export.config.llm_config import LlmConfig
from torch import nn

from support.interop.official import Case, Entry

VOCABULARY, CONTEXT = 64, 32
FLOAT_DIM, QUANTIZED_DIM = 32, 64  # two groups of 32 in a row of a quantized weight
SIZES = {
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 2,
    "vocab_size": VOCABULARY,
    "hidden_dim": 64,
    "multiple_of": 32,
    "norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "use_scaled_rope": False,
}
METADATA = {"get_bos_id": 1, "get_eos_ids": [2, 3]}
READABLE = (
    *METADATA,
    "get_max_seq_len",
    "get_max_context_len",
    "get_vocab_size",
    "get_n_layers",
    "use_kv_cache",
    "use_sdpa_with_kv_cache",
    "enable_dynamic_shape",
)

Edit = Callable[[LlmConfig], None]


def weights(dim: int) -> dict[str, torch.Tensor]:
    """A checkpoint by the names of the example's model."""

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns) / columns**0.5

    hidden = SIZES["hidden_dim"]
    own = dim // SIZES["n_heads"] * SIZES["n_kv_heads"]
    state = {
        "tok_embeddings.weight": torch.randn(VOCABULARY, dim),
        "norm.weight": torch.rand(dim) + 0.5,
        "output.weight": 3 * matrix(VOCABULARY, dim),
    }
    for layer in range(SIZES["n_layers"]):
        rows = {"wq": (dim, dim), "wk": (own, dim), "wv": (own, dim), "wo": (dim, dim)}
        feed = {"w1": (hidden, dim), "w2": (dim, hidden), "w3": (hidden, dim)}
        prefix = f"layers.{layer}."
        state |= {f"{prefix}attention.{name}.weight": matrix(*size) for name, size in rows.items()}
        state |= {f"{prefix}feed_forward.{name}.weight": matrix(*size) for name, size in feed.items()}
        state |= {f"{prefix}{name}.weight": torch.rand(dim) + 0.5 for name in ("attention_norm", "ffn_norm")}
    return state


def make_program(folder: Path, dim: int, *edits: Edit) -> bytes:
    """The program of a model with a cache and the custom operators, with these edits of the settings."""
    config = LlmConfig()
    config.base.params = str(folder / "params.json")
    config.base.checkpoint = str(folder / "checkpoint.pth")
    config.base.metadata = json.dumps(METADATA)
    config.model.use_kv_cache = True
    config.model.use_sdpa_with_kv_cache = True
    config.export.max_seq_length = CONTEXT
    config.export.max_context_length = CONTEXT
    config.export.output_dir = str(folder)
    config.export.output_name = "model"
    for edit in edits:
        edit(config)
    (folder / "params.json").write_text(json.dumps({"dim": dim, **SIZES}))
    torch.save(weights(dim), folder / "checkpoint.pth")
    _export_llama(config)
    return (folder / "model.pte").read_bytes()


def quantized(mode: str, embedding: str) -> Edit:
    """Linear layers in groups of 32 by a mode of the example, embeddings by bits and group."""

    def edit(config: LlmConfig) -> None:
        config.quantization.qmode = mode
        config.quantization.group_size = 32
        config.quantization.embedding_quantize = embedding

    return edit


def to_xnnpack(config: LlmConfig) -> None:
    """Settings of `-X --xnnpack-extended-ops`."""
    config.backend.xnnpack.enabled = True
    config.backend.xnnpack.extended_ops = True


def int8_cache(config: LlmConfig) -> None:
    """Keys and values in int8 with a scale and a zero point for each token and head."""
    config.model.quantize_kv_cache = True


def ring_cache(config: LlmConfig) -> None:
    """A cache that keeps its first tokens and overwrites the oldest of the others, with masks."""
    config.model.use_attention_sink = "4,16"


def conversation() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A prompt, steps of one token, and a second prompt after them."""
    calls = []
    position = 0
    for length in (5, 1, 1, 3, 20, 1):
        tokens = torch.randint(0, VOCABULARY, (1, length))
        calls.append((tokens, torch.tensor([position])))
        position += length
    return calls


def _case(*edits: Edit, dim: int = FLOAT_DIM, delegated: bool = False) -> Case:
    methods = {"forward": Entry(nn.Identity(), conversation())}
    methods |= {name: Entry(nn.Identity(), [()]) for name in READABLE}
    return Case(
        methods,
        delegated=delegated,
        make_program=lambda folder: make_program(folder, dim, *edits),
        note="made by executorch.examples.models.llama: random weights, a cache by custom operators",
    )


def _delegated(*edits: Edit) -> Case:
    return _case(*edits, to_xnnpack, dim=QUANTIZED_DIM, delegated=True)


CASES: dict[str, Callable[[], Case]] = {
    "llama_float": _case,
    "llama_ring_cache": lambda: _case(ring_cache),
    "llama_int8_cache": lambda: _case(quantized("int8", "8,0"), int8_cache),
    "llama_8da4w": lambda: _delegated(quantized("8da4w", "4,32")),
    "llama_8da4w_int8_cache": lambda: _delegated(quantized("8da4w", "2,32"), int8_cache),
}
