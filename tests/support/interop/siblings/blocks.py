# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of the networks in networks.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, optional squeeze and excitation, projection, shortcut."""

    def __init__(self, inputs: int, outputs: int, activation: nn.Module, squeeze: bool = False) -> None:
        super().__init__()
        wide = inputs * 4
        self.expand = nn.Sequential(nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), activation)
        depthwise = nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False)
        self.depthwise = nn.Sequential(depthwise, nn.BatchNorm2d(wide), activation)
        gate = [
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(wide, 4, 1),
            nn.ReLU(),
            nn.Conv2d(4, wide, 1),
            nn.Hardsigmoid(),
        ]
        self.gate = nn.Sequential(*gate) if squeeze else None
        self.project = nn.Sequential(nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(self.expand(x))
        return x + self.project(y if self.gate is None else y * self.gate(y))


class ConvNext(nn.Module):
    """A wide depthwise convolution, layer norm over channels, and a scaled multilayer perceptron."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(channels, 4 * channels), nn.GELU(), nn.Linear(4 * channels, channels)
        )
        self.scale = nn.Parameter(torch.full((channels,), 0.5))

    def forward(self, x: Tensor) -> Tensor:
        y = self.mlp(self.norm(self.depthwise(x).permute(0, 2, 3, 1))) * self.scale
        return x + y.permute(0, 3, 1, 2)


class Shuffle(nn.Module):
    """Half of the channels through grouped convolutions, then all of them shuffled."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.branch = nn.Sequential(nn.Conv2d(half, half, 1, groups=2), nn.BatchNorm2d(half), nn.ReLU())
        self.shuffle = nn.ChannelShuffle(2)

    def forward(self, x: Tensor) -> Tensor:
        kept, changed = x.chunk(2, 1)
        return self.shuffle(torch.cat([kept, self.branch(changed)], 1))


class Dense(nn.Module):
    """Layers that take the outputs of all earlier layers."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(channels * n, channels, 3, padding=1) for n in (1, 2, 3))
        self.transition = nn.Sequential(
            nn.BatchNorm2d(channels * 4), nn.Conv2d(channels * 4, 4, 1), nn.AvgPool2d(2)
        )

    def forward(self, x: Tensor) -> Tensor:
        found = [x]
        for layer in self.layers:
            found.append(layer(torch.cat(found, 1)).relu())
        return self.transition(torch.cat(found, 1))


class UNet(nn.Module):
    """Down, up, and the shortcut between."""

    def __init__(self, bilinear: bool = False) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.low = nn.Conv2d(8, 16, 3, padding=1)
        self.up = (
            nn.Sequential(
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(16, 8, 1)
            )
            if bilinear
            else nn.ConvTranspose2d(16, 8, 2, 2)
        )
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        high = self.down(x).relu()
        low = self.low(functional.max_pool2d(high, 2)).relu()
        return self.last(torch.cat([high, self.up(low)], 1))


class Vit(nn.Module):
    """Patches, a class token, positions, one encoder layer, classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.positions = nn.Parameter(torch.randn(1, 17, 16))
        self.layer = nn.TransformerEncoderLayer(
            16, 4, 32, activation="gelu", batch_first=True, norm_first=True
        )
        self.head = nn.Linear(16, 5)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.layer(x)[:, 0])


class Llama(nn.Module):
    """One layer of a decoder: RMS norm, rotary positions, grouped heads, gated perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.norms = nn.ModuleList(nn.RMSNorm(16, eps=1e-5) for _ in range(3))
        self.q, self.kv, self.o = (nn.Linear(16, n, bias=False) for n in (16, 16, 16))
        self.gate, self.wide = (nn.Linear(16, 24, bias=False) for _ in range(2))
        self.narrow = nn.Linear(24, 16, bias=False)
        angles = torch.outer(torch.arange(6.0), 10000.0 ** (-torch.arange(2.0) / 2))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def rotate(self, x: Tensor) -> Tensor:
        even, odd = x[..., ::2], x[..., 1::2]
        rotated = torch.stack([even * self.cos - odd * self.sin, even * self.sin + odd * self.cos], -1)
        return rotated.flatten(-2)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        y = self.norms[0](x)
        q = self.q(y).view(1, 6, 4, 4).transpose(1, 2)
        k, v = (part.view(1, 6, 2, 4).transpose(1, 2) for part in self.kv(y).chunk(2, -1))
        k, v = (part.repeat_interleave(2, dim=1) for part in (self.rotate(k), v))
        mixed = functional.scaled_dot_product_attention(self.rotate(q), k, v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(1, 6, 16))
        y = self.norms[1](x)
        x = x + self.narrow(functional.silu(self.gate(y)) * self.wide(y))
        return self.norms[2](x) @ self.embedding.weight.t()


class TextClassifier(nn.Module):
    """Embedding with padding, masked mean, classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 8, padding_idx=0)
        self.classifier = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Dropout(), nn.Linear(8, 3))

    def forward(self, tokens: Tensor) -> Tensor:
        mask = (tokens != 0).unsqueeze(-1)
        x = self.embedding(tokens).masked_fill(~mask, 0.0)
        return self.classifier(x.sum(1) / mask.sum(1).clamp(min=1)).log_softmax(-1)


class MixtureOfExperts(nn.Module):
    """The two best of three experts for each row, weighted."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 3)
        self.experts = nn.Parameter(torch.randn(3, 8, 4))

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2)
        outputs = torch.einsum("nd,edk->nek", x, self.experts)
        picked = outputs.gather(1, chosen.unsqueeze(-1).expand(-1, -1, 4))
        return (picked * weights.unsqueeze(-1)).sum(1)


class PointNet(nn.Module):
    """Points through shared layers, then the maximum of each feature."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 8, 1))
        self.classifier = nn.Linear(8, 4)

    def forward(self, points: Tensor) -> Tensor:
        return self.classifier(self.features(points.transpose(1, 2)).max(-1).values)


def padded(x: Tensor) -> Any:
    modes = ("constant", "reflect", "replicate", "circular")
    return tuple(functional.pad(x, (1, 2, 2, 1), mode=mode) for mode in modes)


def losses(x: Tensor, y: Tensor) -> Any:
    target = torch.tensor([0, 2, 1, 4])
    return (
        functional.mse_loss(x, y),
        functional.smooth_l1_loss(x, y),
        functional.cross_entropy(x, target),
        functional.binary_cross_entropy_with_logits(x, y.sigmoid()),
        functional.cosine_similarity(x, y),
    )


def distances(x: Tensor, y: Tensor) -> Any:
    return torch.cdist(x, y), functional.normalize(x), x.norm(dim=1), torch.linalg.vector_norm(x, 1, dim=0)


def beam(scores: Tensor) -> Any:
    """The three best, the values sorted with their indices, and argmin and argsort."""
    best = scores.log_softmax(-1).topk(3)
    ordered, indices = scores.sort(-1, descending=True)
    return best.values, best.indices, ordered, indices, scores.argmin(-1), scores.argsort(-1)


def box_areas(a: Tensor, b: Tensor) -> Any:
    """Intersection over union of all pairs of boxes, and a mask of intersections above 1."""
    low = torch.maximum(a[:, None, :2], b[None, :, :2])
    high = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    inside = (high - low).clamp(min=0).prod(-1)
    area_a, area_b = ((box[:, 2:] - box[:, :2]).abs().prod(-1) for box in (a, b))
    return inside / (area_a[:, None] + area_b[None] - inside + 1e-6), inside > 1
