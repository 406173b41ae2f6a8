# SPDX-License-Identifier: BSD-3-Clause
"""MiniLM with 6 layers: maps a sentence to a vector of its meaning."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from support.real_models.weights import read_safetensors

WIDTH, HEADS, LAYERS, INNER, VOCABULARY, POSITIONS = 384, 12, 6, 1536, 30522, 512


class Layer(nn.Module):
    """Attention and two dense layers, each with a residual and a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.attended, self.widen, self.narrow = (
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, INNER),
            nn.Linear(INNER, WIDTH),
        )
        self.norm1, self.norm2 = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        parts = (
            layer(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(*parts, attn_mask=mask)
        x = self.norm1(x + self.attended(mixed.transpose(1, 2).flatten(-2)))
        return self.norm2(x + self.narrow(functional.gelu(self.widen(x))))


class MiniLm(nn.Module):
    """Maps tokens (int64, [n, length]) and a mask of non-padding tokens (bool, same shape) to vectors of
    length 1 ([n, 384])."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, tokens: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        indices = torch.arange(tokens.shape[1])
        x = self.norm(self.words(tokens) + self.positions(indices) + self.types.weight[0])
        for layer in self.layers:
            x = layer(x, present[:, None, None, :])
        weights = present.unsqueeze(-1).to(x.dtype)
        return functional.normalize((x * weights).sum(1) / weights.sum(1), dim=1)


_NAMES = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "attended",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "norm2",
    "embeddings.word_embeddings": "words",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "types",
    "embeddings.LayerNorm": "norm",
}


def load_minilm(path: Path) -> MiniLm:
    """With the weights of all-MiniLM-L6-v2, a safetensors file."""
    state = {}
    for name, tensor in read_safetensors(path).items():
        match = re.fullmatch(r"(?:encoder\.layer\.(\d+)\.)?(.+)\.(weight|bias)", name)
        if match is not None and match[2] in _NAMES:
            prefix = "" if match[1] is None else f"layers.{match[1]}."
            state[f"{prefix}{_NAMES[match[2]]}.{match[3]}"] = tensor
    model = MiniLm().eval()
    model.load_state_dict(state)
    return model


def tokens_of(sentence: str, vocabulary: Path, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The inputs for a sentence whose words are all in the vocabulary, padded to `length`."""
    numbers = {word: number for number, word in enumerate(vocabulary.read_text().split("\n"))}
    tokens = [numbers[word] for word in ["[CLS]", *sentence.lower().split(), "[SEP]"]]
    padding = length - len(tokens)
    present = [True] * len(tokens) + [False] * padding
    return torch.tensor([tokens + [0] * padding]), torch.tensor([present])
