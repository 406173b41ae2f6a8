# SPDX-License-Identifier: BSD-3-Clause
"""Networks whose branches do not depend on each other, with random weights."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn


def _layers(*widths: int) -> nn.Sequential:
    made: list[nn.Module] = []
    for before, after in pairwise(widths):
        made += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*made[:-1])


class WideAndDeep(nn.Module):
    """Cheng et al., "Wide & Deep learning for recommender systems", 2016: a linear model of crossed features
    beside layers over embeddings. Identifiers [batch, 8], numbers [batch, 13], crosses [batch, 1024]."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(5000, 32) for _ in range(8))
        self.deep = _layers(8 * 32 + 13, 512, 256, 128, 1)
        self.wide = _layers(1024, 256, 1)

    def forward(self, identifiers: Tensor, numbers: Tensor, crosses: Tensor) -> Tensor:
        embedded = [table(identifiers[:, i]) for i, table in enumerate(self.embeddings)]
        return torch.sigmoid(self.deep(torch.cat([*embedded, numbers], 1)) + self.wide(crosses))


class TwoTowers(nn.Module):
    """Retrieval: one network for queries [batch, 512], one for items [batch, 512], and their cosine."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.item = _layers(512, 512, 256, 128), _layers(512, 512, 256, 128)

    def forward(self, query: Tensor, item: Tensor) -> Tensor:
        return torch.cosine_similarity(self.query(query), self.item(item))


class Bidirectional(nn.Module):
    """A bidirectional LSTM over all steps of a sequence ([1, steps, inputs])."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]


def _convolution(before: int, after: int, kernel: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(before, after, kernel, padding=kernel // 2), nn.ReLU())


class _Inception(nn.Module):
    """Four branches: 1×1; 1×1 and 3×3; 1×1 and 5×5; pooling and 1×1."""

    def __init__(self, before: int, widths: tuple[int, int, int, int, int, int]) -> None:
        super().__init__()
        one, three_in, three, five_in, five, pooled = widths
        self.branches = nn.ModuleList(
            [
                _convolution(before, one, 1),
                nn.Sequential(_convolution(before, three_in, 1), _convolution(three_in, three, 3)),
                nn.Sequential(_convolution(before, five_in, 1), _convolution(five_in, five, 5)),
                nn.Sequential(nn.MaxPool2d(3, 1, 1), _convolution(before, pooled, 1)),
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def small_inception() -> nn.Sequential:
    """Six blocks of fewer channels on a small image ([1, 3, 14, 14]), and a classifier."""
    blocks = [_Inception(64 if i == 0 else 192, (64, 48, 64, 16, 32, 32)) for i in range(6)]
    end = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(192, 10))
    return nn.Sequential(_convolution(3, 64, 3), *blocks, end)


def inception() -> nn.Sequential:
    """Blocks 4a to 4d of GoogLeNet (Szegedy et al., 2015), on [1, 480, 14, 14], and a classifier."""
    return nn.Sequential(
        _Inception(480, (192, 96, 208, 16, 48, 64)),
        _Inception(512, (160, 112, 224, 24, 64, 64)),
        _Inception(512, (128, 128, 256, 24, 64, 64)),
        _Inception(512, (112, 144, 288, 32, 64, 64)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(528, 10),
    )
