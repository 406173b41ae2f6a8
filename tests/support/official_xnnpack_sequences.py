# SPDX-License-Identifier: BSD-3-Clause
"""Small networks on sequences and vectors, each with an unusual operator or structure."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Wave(nn.Module):
    """WaveNet: causal dilated convolutions, gates, shortcuts and a sum of all layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(2, 8, 1)
        self.gates = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=d) for d in (1, 2, 4))
        self.joins = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(3))
        self.last = nn.Conv1d(8, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        total = torch.zeros_like(x)
        for layer, join in zip(self.gates, self.joins, strict=True):
            a, b = layer(functional.pad(x, (layer.dilation[0], 0))).chunk(2, 1)
            y = join(torch.tanh(a) * torch.sigmoid(b))
            x, total = x + y, total + y
        return self.last(functional.relu(total))


class Audio(nn.Module):
    """Strided, depthwise and grouped convolutions of one dimension, averages and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 8, 9, stride=4, padding=4),
            nn.BatchNorm1d(8),
            nn.ReLU(),
            nn.Conv1d(8, 8, 3, padding=1, groups=8),
            nn.Conv1d(8, 12, 1),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(12, 12, 5, padding=4, dilation=2, groups=4),
            nn.Hardswish(),
            nn.AvgPool1d(2),
        )
        self.last = nn.Linear(12, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.layers(x).mean(-1))


class CrossAttention(nn.Module):
    """Queries from one sequence, keys and values from a longer one, norms before and a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 4, kdim=12, vdim=12, batch_first=True)
        self.after = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
        self.register_buffer("mask", torch.triu(torch.full((4, 7), -1e4), 3))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = x + self.attention(self.norm(x), memory, memory, attn_mask=self.mask, need_weights=False)[0]
        return x + self.after(x)


class Decoder(nn.Module):
    """A decoder's block: RMS norm, rotary positions, a causal mask, gated linear layers."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)
        angles = torch.outer(torch.arange(6.0), 10.0 ** -torch.arange(0, 1, 0.25))
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))

    def rotated(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return x * self.cos + torch.cat([-b, a], -1) * self.sin

    def forward(self, x: Tensor) -> Tensor:
        heads = [
            each.unflatten(-1, (2, 8)).transpose(1, 2) for each in self.qkv(self.norms[0](x)).chunk(3, -1)
        ]
        q, k = self.rotated(heads[0]), self.rotated(heads[1])
        mixed = functional.scaled_dot_product_attention(q, k, heads[2], is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Recurrent(nn.Module):
    """PyTorch's own recurrent layer, which the exporter decomposes."""

    def __init__(self, layer: type[nn.Module]) -> None:
        super().__init__()
        self.layer = layer(5, 7, batch_first=True)
        self.last = nn.Linear(7, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.layer(x)[0][:, -1])


class Twins(nn.Module):
    """Two inputs through one layer: their distance, cosine and the larger of both."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        x, y = self.layer(a), self.layer(b)
        cosine = (x * y).sum(-1) * torch.rsqrt((x * x).sum(-1) * (y * y).sum(-1) + 1e-6)
        distance = torch.sqrt(((x - y) ** 2).mean(-1, keepdim=True) + 1e-3)
        return cosine, distance, torch.exp(-torch.abs(x - y)) / (1 + torch.exp(-x)), torch.minimum(x, y)


class Elementwise(nn.Module):
    """A chain of all elementwise functions."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = functional.leaky_relu(x, 0.3).clamp(-2, 2.5)
        y = torch.sin(y) * torch.cos(y) + torch.log(y.abs() + 0.5)
        y = torch.ceil(4 * y) * 0.25 - torch.floor(2 * x) / 3 + functional.gelu(x) - torch.tanh(-y)
        return functional.softmax(y.transpose(0, 1), -1), functional.hardswish(y[..., 1:-1, 2:]).square()


class Experts(nn.Module):
    """Two experts, weighted by a softmax over a middle dimension, of a batch of matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(12, 2)
        self.experts = nn.ModuleList(nn.Linear(12, 9) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        weights = torch.softmax(self.gate(x).unsqueeze(-1), 2)
        made = torch.stack([expert(x) for expert in self.experts], 2)
        return functional.relu((weights * made).sum(2)) @ self.experts[0].weight


class Narrow(nn.Module):
    """Linear layers for images, with odd sizes and with one output, with each fused activation."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(7, 13), nn.ReLU6(), nn.Linear(13, 1, bias=False), nn.Hardtanh(-0.25, 0.5)
        )
        self.wide = nn.Linear(1, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.wide(self.layers(x)).clamp(min=-0.5)


SEQUENCES = {
    "wave": (Wave, ((2, 2, 20),)),
    "audio": (Audio, ((2, 1, 96),)),
    "cross-attention": (CrossAttention, ((2, 4, 16), (2, 7, 12))),
    "decoder": (Decoder, ((1, 6, 16),)),
    "torch lstm": (lambda: Recurrent(nn.LSTM), ((2, 4, 5),)),
    "torch gru": (lambda: Recurrent(nn.GRU), ((2, 4, 5),)),
    "twins": (Twins, ((3, 10), (3, 10))),
    "elementwise": (Elementwise, ((3, 6, 9),)),
    "experts": (Experts, ((2, 3, 12),)),
    "narrow": (Narrow, ((2, 3, 4, 7),)),
}
"""Modules and the shapes of their inputs."""
