# SPDX-License-Identifier: BSD-3-Clause
"""Small models with seeded weights, and inputs for them, that tests quantize."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


class ConvNet(nn.Module):
    """Batch norm, a depthwise convolution, a residual sum, pools, a linear layer. [N, 3, 8, 8] to [N, 5]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.depthwise, self.depthwise_norm = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8)
        self.pointwise = nn.Conv2d(8, 8, 1)
        self.relu, self.pool = nn.ReLU(inplace=True), nn.MaxPool2d(2)
        self.head = nn.Linear(8, 5)
        for norm in (self.stem_norm, self.depthwise_norm):
            norm.running_mean.normal_(0, 0.3)
            norm.running_var.uniform_(0.5, 2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.stem_norm(self.stem(x)))
        y = self.relu(self.depthwise_norm(self.depthwise(x)))
        x = self.relu(x + self.pointwise(y))
        return self.head(nn.functional.adaptive_avg_pool2d(self.pool(x), 1).flatten(1))


class Perceptron(nn.Module):
    """Two linear layers. [N, 16] to [N, 6]."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


class GatedCell(nn.Module):
    """A gated recurrent cell from linear layers, for three steps. [N, 3, 8] to [N, 16]."""

    def __init__(self) -> None:
        super().__init__()
        self.gates, self.candidate = nn.Linear(24, 32), nn.Linear(24, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros(x.shape[0], 16)
        for step in range(3):
            reset, update = torch.sigmoid(self.gates(torch.cat([x[:, step], state], 1))).chunk(2, 1)
            candidate = torch.tanh(self.candidate(torch.cat([x[:, step], reset * state], 1)))
            state = update * state + (1 - update) * candidate
        return state


class Transformer(nn.Module):
    """A block with attention after an embedding. [N, 6] indices below 40 to [N, 6, 16]."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Joined(nn.Module):
    """cat, split, transposed convolution, padding, interpolation. [N, 4, 6] to [N, 3, 24]."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv1d(4, 6, 3, padding=1), nn.Conv1d(4, 6, 1)
        self.up = nn.ConvTranspose1d(6, 3, 2, stride=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both = torch.cat([self.left(x), self.right(x)], 1)
        first, second = both.split(6, 1)
        return nn.functional.interpolate(self.up(first * second), scale_factor=2)


@dataclass(frozen=True)
class Case:
    """A model with a function that draws its inputs."""

    module: nn.Module
    draw: Callable[[], tuple[Any, ...]]

    def calibration(self, count: int = 12) -> list[tuple[Any, ...]]:
        return [self.draw() for _ in range(count)]


def make_case(name: str) -> Case:
    """One of CASES, with the same weights and inputs each time."""
    torch.manual_seed(7)
    kind, draw = _KINDS[name]
    return Case(kind().eval(), draw)


_KINDS: dict[str, tuple[type[nn.Module], Callable[[], tuple[Any, ...]]]] = {
    "convnet": (ConvNet, lambda: (torch.randn(2, 3, 8, 8),)),
    "perceptron": (Perceptron, lambda: (torch.randn(16, 16),)),
    "gated_cell": (GatedCell, lambda: (torch.randn(16, 3, 8),)),
    "transformer": (Transformer, lambda: (torch.randint(0, 40, (2, 6)),)),
    "joined": (Joined, lambda: (torch.randn(2, 4, 6),)),
}
CASES = tuple(_KINDS)


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """The norm of the difference divided by the norm of the expected value."""
    return ((got - expected).norm() / expected.norm()).item()


def targets(module: torch.fx.GraphModule) -> list[str]:
    """The operators of a graph in order, without namespace and overload."""
    return [
        node.target._schema.name.split("::")[1]
        for node in module.graph.nodes
        if node.op == "call_function" and hasattr(node.target, "_schema")
    ]
