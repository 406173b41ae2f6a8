# SPDX-License-Identifier: BSD-3-Clause
"""A language model of a few thousand random weights, in ExecuTorch's form: forward(tokens, input_pos) with a
cache of keys and values as mutable buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import rushlight

VOCABULARY, CONTEXT, CHUNK = 46, 40, 8
BEGIN, END = 1, 2


class TinyLanguageModel(nn.Module):
    """One layer of attention. Its weights are large so that its likeliest tokens vary."""

    keys: Tensor
    values: Tensor

    def __init__(self, *, all_logits: bool = False, seed: int = 0, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.all_logits, self.heads = all_logits, heads
        torch.manual_seed(seed)
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.position = nn.Embedding(CONTEXT, width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        cache = torch.zeros(1, heads, CONTEXT, width // heads)
        self.register_buffer("keys", cache)
        self.register_buffer("values", cache.clone())

    def forward(self, tokens: Tensor, input_pos: Tensor) -> Tensor:
        positions = input_pos + torch.arange(tokens.shape[1])
        hidden = self.embedding(tokens) + self.position(positions)
        query, key, value = self.qkv(hidden).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        self.keys[:, :, positions] = key
        self.values[:, :, positions] = value
        seen = torch.arange(CONTEXT) <= positions[:, None]
        scores = (2 * query @ self.keys.transpose(2, 3)).masked_fill(~seen, float("-inf"))
        mixed = (scores.softmax(-1) @ self.values).transpose(1, 2).flatten(2)
        logits: Tensor = self.head(hidden + 4 * mixed)
        return logits if self.all_logits else logits[:, -1]

    @torch.no_grad()
    def greedy(self, prompt: Sequence[int], count: int) -> list[int]:
        """The likeliest tokens behind the prompt, each from a call on all tokens so far."""
        tokens = list(prompt)
        for _ in range(count):
            logits = self(torch.tensor([tokens]), torch.tensor([0]))
            tokens.append(int(logits.reshape(-1, VOCABULARY)[-1].argmax()))
        return tokens[len(prompt) :]


def _present(methods: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in methods.items() if value is not None}


def save_tiny_language_model(
    path: Path, *, dynamic: bool = True, metadata: Mapping[str, Any] | None = None, **options: Any
) -> TinyLanguageModel:
    """Writes the program, with metadata methods of the official names, and returns the model. `metadata` are
    further ones, or other values; None leaves one out."""
    model = TinyLanguageModel(**options).eval()
    length = torch.export.Dim("length", min=1, max=CHUNK)
    rushlight.export(
        model,
        (torch.zeros(1, 3 if dynamic else 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)),
        dynamic_shapes={"tokens": {1: length}, "input_pos": None} if dynamic else None,
        constant_methods=_present(
            {
                "get_bos_id": BEGIN,
                "get_eos_ids": (END, 3),
                "get_max_seq_len": CHUNK,
                "get_max_context_len": CONTEXT,
                "get_vocab_size": VOCABULARY,
                "use_kv_cache": True,
                "enable_dynamic_shape": dynamic,
                **(metadata or {}),
            }
        ),
    ).save(path)
    return model
