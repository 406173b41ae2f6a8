# SPDX-License-Identifier: BSD-3-Clause
"""SmolLM2 with 135 million parameters: one token at a time, with the earlier tokens' state in buffers."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from support.real_models.weights import Gguf, read_gguf

WIDTH, HEADS, KEY_HEADS, LAYERS, INNER, VOCABULARY = 576, 9, 3, 30, 1536, 49152
HEAD, POSITIONS = WIDTH // HEADS, 64


class Block(nn.Module):
    """Attention over the tokens so far, and a gated dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.ffn_norm = (nn.RMSNorm(WIDTH, eps=1e-5) for _ in range(2))
        self.attn_q, self.attn_output = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.attn_k, self.attn_v = (nn.Linear(WIDTH, KEY_HEADS * HEAD, bias=False) for _ in range(2))
        self.ffn_gate, self.ffn_up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.ffn_down = nn.Linear(INNER, WIDTH, bias=False)
        self.register_buffer("keys", torch.zeros(1, KEY_HEADS, POSITIONS, HEAD))
        self.register_buffer("values", torch.zeros(1, KEY_HEADS, POSITIONS, HEAD))

    def forward(self, x: torch.Tensor, position: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
        normed = self.attn_norm(x)
        query, key, value = (
            layer(normed).unflatten(-1, (-1, HEAD)).transpose(1, 2)
            for layer in (self.attn_q, self.attn_k, self.attn_v)
        )
        self.keys.index_copy_(2, position, _rotated(key, rotation))
        self.values.index_copy_(2, position, value)
        seen = torch.arange(POSITIONS) <= position
        keys, values = (
            cache.repeat_interleave(HEADS // KEY_HEADS, dim=1) for cache in (self.keys, self.values)
        )
        mixed = functional.scaled_dot_product_attention(_rotated(query, rotation), keys, values, seen[None])
        x = x + self.attn_output(mixed.transpose(1, 2).flatten(-2))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


class SmolLm2(nn.Module):
    """From a token (int64, [1, 1]) and its position (int64, [1]) to the scores of the next ([1, 49152])."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(VOCABULARY, WIDTH)
        self.blk = nn.ModuleList(Block() for _ in range(LAYERS))
        self.output_norm = nn.RMSNorm(WIDTH, eps=1e-5)
        rates = 100000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
        self.register_buffer("angles", torch.arange(POSITIONS)[:, None] * rates, persistent=False)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        x = self.token_embd(token)
        angle = self.angles[position]
        rotation = torch.stack([angle.cos(), angle.sin()])
        for block in self.blk:
            x = block(x, position, rotation)
        return functional.linear(self.output_norm(x)[:, -1], self.token_embd.weight)


def _rotated(heads: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
    """Rotates each pair of neighbours by its angle."""
    even, odd = heads.unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = rotation
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def load_smollm2(path: Path) -> tuple[SmolLm2, list[str]]:
    """The model with the weights of a GGUF file, and the texts of its tokens, spaces written as Ġ."""
    file: Gguf = read_gguf(path)
    model = SmolLm2().eval()
    missing, unexpected = model.load_state_dict(file.tensors, strict=False)
    assert not unexpected and all(name.endswith((".keys", ".values")) for name in missing)
    return model, file.facts["tokenizer.ggml.tokens"]
