# SPDX-License-Identifier: BSD-3-Clause
"""Language models of each family with random weights, of some thousand parameters, as transformers creates
and saves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

SIZES = {
    "vocab_size": 99,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 96,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
_YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {"tie_word_embeddings": True}),
    "llama_untied_biases": ("Llama", {"attention_bias": True, "mlp_bias": True, "head_dim": 24}),
    "llama3": ("Llama", {"rope_parameters": _LLAMA3}),
    "llama_linear": (
        "Llama",
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}},
    ),
    "llama_yarn": ("Llama", {"rope_parameters": _YARN}),
    "mistral": ("Mistral", {"sliding_window": 7}),
    "smollm3": ("SmolLM3", {"num_key_value_heads": 4}),
    "qwen2": ("Qwen2", {"tie_word_embeddings": True}),
    "qwen2_window": ("Qwen2", {"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 2}),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "gemma": ("Gemma", {"head_dim": 16}),
    "gemma2": (
        "Gemma2",
        {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 24, "attn_logit_softcapping": 2.0},
    ),
    "gemma3": (
        "Gemma3Text",
        {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 24, "num_hidden_layers": 7},
    ),
}
"""By name: the class of transformers without "Config", and the fields of its configuration besides SIZES."""

_CAUSAL = {"Gemma3Text": "Gemma3ForCausalLM"}


def config_of(kind: str, settings: Mapping[str, Any]) -> Any:
    """A configuration of transformers."""
    return getattr(transformers, f"{kind}Config")(**{**SIZES, **settings})


def make(name: str, seed: int = 0, **more: Any) -> Any:
    """A model of MODELS in float32 with random weights; `more` changes its configuration."""
    kind, settings = MODELS[name]
    config = config_of(kind, {**settings, **more})
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    model = getattr(transformers, _CAUSAL.get(kind, f"{kind}ForCausalLM"))(config).eval()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if "norm" in parameter_name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
            elif parameter_name.endswith("bias"):
                parameter.copy_(torch.randn_like(parameter) * 0.1)
            else:
                parameter.copy_(torch.randn_like(parameter) * parameter.shape[-1] ** -0.5)
    return model


def save(model: Any, folder: Path, **how: Any) -> Path:
    """The model's directory, as transformers writes it."""
    model.save_pretrained(folder, **how)
    return folder


def load(folder: Path) -> Any:
    """The model of a directory, its weights widened to float32."""
    how = {"dtype": torch.float32, "attn_implementation": "eager"}
    return transformers.AutoModelForCausalLM.from_pretrained(folder, **how).eval()


def expected_logits(model: Any, tokens: Sequence[int]) -> np.ndarray:
    """The logits at each position."""
    with torch.no_grad():
        logits: np.ndarray = model(torch.tensor([list(tokens)])).logits[0].float().numpy()
    return logits
