# SPDX-License-Identifier: BSD-3-Clause
"""Language models as their families write them, small, with random weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from networks.transformers import EncoderLayer


class _MaskedAttention(nn.Module):
    """Attention as products and a softmax, with a mask added to the scores."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        query, key, value = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        mixed = functional.dropout((scores + mask).softmax(-1), 0.1, self.training) @ value
        return self.output(mixed.permute(0, 2, 1, 3).reshape(x.shape))


class _BertLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = _MaskedAttention(width, heads)
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=1e-12) for _ in range(2))
        self.linear = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.norms[0](self.attention(x, mask) + x)
        return self.norms[1](self.linear(x) + x)


class Bert(nn.Module):
    """Devlin et al., 2019: tokens and their mask (int64, [1, 64]). With `shared` as ALBERT (Lan et al.,
    2020): one layer used again and again, embeddings of another width."""

    def __init__(self, shared: bool = False, width: int = 256, layers: int = 4, words: int = 8000) -> None:
        super().__init__()
        inner = 64 if shared else width
        self.words, self.positions, self.kinds = (nn.Embedding(n, inner) for n in (words, 128, 2))
        self.norm = nn.LayerNorm(inner, eps=1e-12)
        self.widen = nn.Linear(inner, width) if shared else nn.Identity()
        self.count = layers
        self.layers = nn.ModuleList(_BertLayer(width, 4) for _ in range(1 if shared else layers))
        self.pooler = nn.Linear(width, width)
        self.head = nn.Linear(width, 2)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        at = torch.arange(tokens.shape[1])[None]
        x = self.words(tokens) + self.kinds(torch.zeros_like(tokens)) + self.positions(at)
        x = self.widen(self.norm(x))
        added = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(torch.float32).min
        for index in range(self.count):
            x = self.layers[index % len(self.layers)](x, added)
        return self.head(torch.tanh(self.pooler(x[:, 0])))


class _Conv1d(nn.Module):
    """GPT-2's linear layer, whose weight is [inputs, outputs]."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(before, after) * 0.02)
        self.bias = nn.Parameter(torch.zeros(after))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight)
        return y.view(*x.shape[:-1], -1)


class _GptLayer(nn.Module):
    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.width, self.heads = width, heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.output = _Conv1d(width, 3 * width), _Conv1d(width, width)
        self.into, self.out = _Conv1d(width, 4 * width), _Conv1d(4 * width, width)
        self.register_buffer("seen", torch.tril(torch.ones(length, length, dtype=torch.bool))[None, None])

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], self.heads, -1)
        parts = self.qkv(self.norms[0](x)).split(self.width, 2)
        query, key, value = (part.view(shape).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(-1, -2) / (query.shape[-1] ** 0.5)
        length = x.shape[1]
        scores = torch.where(self.seen[:, :, :length, :length], scores, torch.finfo(torch.float32).min)
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(x.shape)
        x = x + self.output(mixed)
        y = self.into(self.norms[1](x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))
        return x + self.out(y)


class Gpt2(nn.Module):
    """Radford et al., 2019: fused projections, a causal mask by `where`, tanh GELU written out.
    Tokens (int64, [1, 64])."""

    def __init__(self, width: int = 256, layers: int = 4, words: int = 4000, length: int = 128) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*(_GptLayer(width, 4, length) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1])[None])
        return self.norm(self.layers(x))[:, -1:] @ self.words.weight.t()


class _T5Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class _T5Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList(_T5Norm(width) for _ in range(2))
        self.query, self.key, self.value, self.output = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.gate, self.into = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.out = nn.Linear(2 * width, width, bias=False)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        y, shape = self.norms[0](x), (*x.shape[:2], self.heads, -1)
        query, key, value = (m(y).view(shape).transpose(1, 2) for m in (self.query, self.key, self.value))
        mixed = ((query @ key.transpose(3, 2) + bias).softmax(-1) @ value).transpose(1, 2).reshape(x.shape)
        x = x + self.output(mixed)
        y = self.norms[1](x)
        return x + self.out(functional.gelu(self.gate(y), approximate="tanh") * self.into(y))


class T5(nn.Module):
    """The encoder of T5 1.1 (Raffel et al., 2020): no scale in attention, biases by buckets of distances.
    Tokens (int64, [1, 64])."""

    def __init__(self, width: int = 256, layers: int = 4, words: int = 8000, heads: int = 4) -> None:
        super().__init__()
        self.words, self.bias = nn.Embedding(words, width), nn.Embedding(32, heads)
        self.layers, self.norm = nn.ModuleList(_T5Layer(width, heads) for _ in range(layers)), _T5Norm(width)

    def buckets(self, length: int) -> Tensor:
        apart = torch.arange(length)[None] - torch.arange(length)[:, None]
        far = apart.abs()
        large = 8 + (torch.log(far.float().clamp(min=1) / 8) / math.log(16) * 8).long()
        return (apart > 0).long() * 16 + torch.where(far < 8, far, large.clamp(max=15))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        bias = self.bias(self.buckets(tokens.shape[1])).permute(2, 0, 1)[None]
        for layer in self.layers:
            x = layer(x, bias)
        return self.norm(x)


class _QuickGelu(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


class Clip(nn.Module):
    """Radford et al., 2021: an image of 96 x 96 and 32 tokens (int64) to the cosine of their vectors, with
    nn.TransformerEncoderLayer for the text and quick GELU for the image."""

    def __init__(self, width: int = 192, layers: int = 3) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16, bias=False)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, 37, width) * 0.02)
        self.image = nn.Sequential(*(EncoderLayer(width, 3, 4 * width, True) for _ in range(layers)))
        for layer in self.image:
            layer.linear[1] = _QuickGelu()
        self.words, self.places = nn.Embedding(4000, 128), nn.Parameter(torch.randn(32, 128) * 0.02)
        self.text = nn.ModuleList(
            nn.TransformerEncoderLayer(128, 4, 512, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.of_image, self.of_text = nn.Linear(width, 64, bias=False), nn.Linear(128, 64, bias=False)
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, image: Tensor, tokens: Tensor) -> Tensor:
        x = torch.cat([self.token, self.patches(image).flatten(2).transpose(1, 2)], 1) + self.positions
        seen = self.of_image(self.image(x)[:, 0])
        y = self.words(tokens) + self.places
        mask = torch.full((32, 32), float("-inf")).triu(1)
        for layer in self.text:
            y = layer(y, src_mask=mask)
        told = self.of_text(y[:, -1])
        seen, told = (each / each.norm(dim=-1, keepdim=True) for each in (seen, told))
        return self.scale.exp() * (seen @ told.t())
