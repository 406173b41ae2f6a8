# SPDX-License-Identifier: BSD-3-Clause
"""Transformers: a text encoder, an image encoder and a decoder block, with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Self-attention of all tokens ([1, tokens, width])."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], self.heads, -1)
        q, k, v = (layer(x).view(shape).transpose(1, 2) for layer in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return self.output(mixed.transpose(1, 2).flatten(2))


class EncoderLayer(nn.Module):
    """Attention and two linear layers, each with a residual and a norm before or after it."""

    def __init__(self, width: int, heads: int, inner: int, norm_first: bool) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = Attention(width, heads)
        self.linear = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for norm, part in zip(self.norms, (self.attention, self.linear), strict=True):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


class TextEncoder(nn.Module):
    """MiniLM's shape: tokens (int64, [1, length]) to their mean vector ([1, width])."""

    def __init__(self, width: int = 384, heads: int = 12, layers: int = 6, words: int = 30522) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads, 4 * width, False) for _ in range(layers)))

    def forward(self, tokens: Tensor) -> Tensor:
        positions = self.positions.weight[: tokens.shape[1]]
        return self.layers(self.norm(self.words(tokens) + positions)).mean(1)


class VisionTransformer(nn.Module):
    """ViT-tiny's shape: an image of 224 x 224 in 196 patches and a class token to 1000 scores."""

    def __init__(self, width: int = 192, heads: int = 3, layers: int = 12) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, stride=16)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads, 4 * width, True) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token, x], 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


class LlamaBlock(nn.Module):
    """One block of a decoder: RMS norms, rotary embedding, grouped heads, SwiGLU.

    Takes x ([1, tokens, width]) at the positions from `past` on. With `past`, also takes the earlier keys
    and values ([1, groups, past, head]), and returns those for all tokens besides its output.
    """

    def __init__(self, tokens: int, past: int = 0, width: int = 512, heads: int = 8, groups: int = 2) -> None:
        super().__init__()
        self.heads, self.groups, self.past, head = heads, groups, past, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, groups * head, bias=False) for _ in range(2))
        self.output = nn.Linear(width, width, bias=False)
        inner = width * 11 // 4
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(2))
        frequencies = 10000.0 ** (-torch.arange(0, head, 2) / head)
        angles = torch.outer(torch.arange(past, past + tokens).float(), frequencies)
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))

    def forward(self, x: Tensor, *past: Tensor) -> Tensor | tuple[Tensor, ...]:
        mixed, *seen = self.attention(self.norms[0](x), past)
        x = x + mixed
        y = self.norms[1](x)
        x = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return (x, *seen) if past else x

    def attention(self, x: Tensor, past: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
        query = self.rotated(self.split(self.query(x), self.heads))
        key, value = (
            self.rotated(self.split(self.key(x), self.groups)),
            self.split(self.value(x), self.groups),
        )
        if past:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        each = self.heads // self.groups
        k, v = (t.repeat_interleave(each, 1) for t in (key, value))
        mixed = functional.scaled_dot_product_attention(query, k, v, is_causal=not past)
        return self.output(mixed.transpose(1, 2).flatten(2)), key, value

    def split(self, x: Tensor, heads: int) -> Tensor:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    def rotated(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat([-second, first], -1) * self.sin
