# SPDX-License-Identifier: BSD-3-Clause
"""Networks over points, features and series, with random weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class _Transform(nn.Module):
    """A matrix [size, size] from all points."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.points = nn.Sequential(*_pointwise(size, 32), *_pointwise(32, 64), *_pointwise(64, 256))
        self.linear = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, size * size))

    def forward(self, x: Tensor) -> Tensor:
        matrix = self.linear(self.points(x).amax(2)).view(-1, self.size, self.size)
        return matrix + torch.eye(self.size)


def _pointwise(before: int, after: int) -> list[nn.Module]:
    return [nn.Conv1d(before, after, 1), nn.BatchNorm1d(after), nn.ReLU()]


class PointNet(nn.Module):
    """Qi et al., 2017, at half the width: 256 points [1, 3, 256] to 10 scores."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = _Transform(3), _Transform(32)
        self.into = nn.Sequential(*_pointwise(3, 32))
        self.points = nn.Sequential(*_pointwise(32, 64), *_pointwise(64, 512))
        self.head = nn.Sequential(nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.bmm(x.transpose(1, 2), self.first(x)).transpose(1, 2)
        x = self.into(x)
        x = torch.bmm(x.transpose(1, 2), self.second(x)).transpose(1, 2)
        return functional.log_softmax(self.head(self.points(x).amax(2)), 1)


class Dlrm(nn.Module):
    """Naumov et al., 2019: products of all pairs of embedded features. Identifiers (int64, [16, 12]) and
    numbers ([16, 13])."""

    def __init__(self, width: int = 32, features: int = 12) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(2000, width) for _ in range(features))
        self.bottom = nn.Sequential(
            nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU()
        )
        pairs = torch.tril_indices(features + 1, features + 1, -1)
        self.register_buffer("pairs", pairs[0] * (features + 1) + pairs[1])
        self.top = nn.Sequential(
            nn.Linear(width + pairs.shape[1], 256),
            nn.ReLU(),
            nn.Linear(256, 128),
            nn.ReLU(),
            nn.Linear(128, 1),
        )

    def forward(self, identifiers: Tensor, numbers: Tensor) -> Tensor:
        x = self.bottom(numbers)
        rows = [x, *(table(identifiers[:, i]) for i, table in enumerate(self.tables))]
        stacked = torch.stack(rows, 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2)).flatten(1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, self.pairs]], 1)))


class _Gated(nn.Module):
    """A gated residual network: two linear layers, a gated linear unit, a residual and a norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ELU(), nn.Linear(width, width))
        self.gate, self.norm = nn.Linear(width, 2 * width), nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + functional.glu(self.gate(self.layers(x)), -1))


class TemporalFusion(nn.Module):
    """Lim et al., 2021, reduced: weights of variables by a softmax, an LSTM, attention to the past. A series
    [1, 48, 8]."""

    def __init__(self, variables: int = 8, width: int = 48) -> None:
        super().__init__()
        self.embed = nn.ModuleList(nn.Linear(1, width) for _ in range(variables))
        self.each = nn.ModuleList(_Gated(width) for _ in range(variables))
        self.select = nn.Linear(variables * width, variables)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.after, self.last = _Gated(width), _Gated(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.head = nn.Linear(width, 3)

    def forward(self, series: Tensor) -> Tensor:
        parts = [layer(series[..., i : i + 1]) for i, layer in enumerate(self.embed)]
        weights = self.select(torch.cat(parts, -1)).softmax(-1)
        x = torch.stack([layer(part) for layer, part in zip(self.each, parts, strict=True)], -1)
        x = (x * weights.unsqueeze(-2)).sum(-1)
        x = self.after(x + self.lstm(x)[0])
        steps = series.shape[1]
        hidden = torch.ones(steps, steps, dtype=torch.bool).triu(1)
        x = self.last(x + self.attention(x, x, x, attn_mask=hidden, need_weights=False)[0])
        return self.head(x)
