# SPDX-License-Identifier: BSD-3-Clause
"""The networks behind the programs of this folder, as plain PyTorch modules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops.scan import scan
from torch.nn import functional


class Fn(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def convolution(inputs: int, outputs: int, kernel: Any, **settings: Any) -> nn.Sequential:
    """A convolution without bias, its batch norm and ReLU."""
    layer = nn.Conv2d(inputs, outputs, kernel, bias=False, **settings)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), nn.ReLU())


class DsCnn(nn.Module):
    """Keyword spotting: a convolution, four depthwise separable blocks, average, classifier."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [convolution(1, 64, (10, 4), stride=2, padding=(5, 1))]
        for _ in range(4):
            blocks.append(convolution(64, 64, 3, padding=1, groups=64))
            blocks.append(convolution(64, 64, 1))
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Linear(64, 12)

    def forward(self, spectrum: Tensor) -> Tensor:
        return self.classifier(self.features(spectrum).mean((2, 3))).softmax(-1)


class Residual(nn.Module):
    """Two convolutions with a shortcut, which is a strided 1x1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride=stride, padding=1)
        self.second = convolution(outputs, outputs, 3, padding=1)[:2]
        self.shortcut = convolution(inputs, outputs, 1, stride=stride)[:2] if stride > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.second(self.first(x)) + self.shortcut(x))


class ResNet8(nn.Module):
    """Image classification: a convolution, three residual blocks, average, classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = convolution(3, 16, 3, padding=1)
        self.blocks = nn.Sequential(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2))
        self.classifier = nn.Linear(64, 10)

    def forward(self, image: Tensor) -> Tensor:
        pooled = functional.avg_pool2d(self.blocks(self.stem(image)), 8)
        return self.classifier(pooled.flatten(1)).softmax(-1)


def mlp(*sizes: int) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def small_cnn() -> nn.Sequential:
    """Convolutions of each kind, both pools and a classifier, on small images."""
    return nn.Sequential(
        convolution(3, 8, 3, padding=1),
        nn.MaxPool2d(2),
        convolution(8, 8, 3, padding=1, groups=8),
        convolution(8, 12, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(12, 5),
        nn.Softmax(-1),
    )


def with_statistics(module: nn.Module) -> nn.Module:
    """The module with batch norms as after training: means and variances that are not 0 and 1."""
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.normal_(layer.running_mean, std=0.2)
            nn.init.uniform_(layer.running_var, 0.5, 1.5)
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.normal_(layer.bias, std=0.2)
    return module


class EveryKind(nn.Module):
    """Constants, state, and operators with arguments of every kind: scalars, lists, None, bools."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        with torch.no_grad():  # the same on every machine
            self.layer.weight.copy_(torch.arange(12.0).reshape(3, 4) / 8 - 0.5)
            self.layer.bias.copy_(torch.arange(3.0) / 4)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls.add_(1)
        y = functional.elu(self.layer(x), 0.75)
        joined = torch.cat([y, y.clamp(min=-0.25) * self.calls], -1)
        return joined.sum([1], keepdim=True), joined.transpose(0, 1).softmax(-1)


def split_and_stack(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    parts = torch.cat([a, b], 1).split_with_sizes([2, 3, 3], 1)
    return (*parts, torch.stack([a, a]))


def cond_sum(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))


def low_precision_mlp(dtype: torch.dtype) -> nn.Sequential:
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 8)).to(dtype)


class Counter(nn.Module):
    """Counts its calls in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1)
        return x + self.count


class KvCache(nn.Module):
    """Attention of one token over the tokens before it, kept in two buffers of 16 rows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("k_cache", torch.zeros(1, 2, 16, 4))
        self.register_buffer("v_cache", torch.zeros(1, 2, 16, 4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, position: Tensor) -> Tensor:
        self.k_cache[:, :, position] = key
        self.v_cache[:, :, position] = value
        seen = torch.arange(16)[None, :] <= position[:, None]
        mask = seen[None, None]
        return functional.scaled_dot_product_attention(query, self.k_cache, self.v_cache, attn_mask=mask)


class SequenceAttention(nn.Module):
    """Attention over a dynamic number of tokens; the output has two elements for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.query = nn.Linear(16, 16)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        x = self.embedding(tokens) + torch.arange(length).float().unsqueeze(1)
        weights = (self.query(x) @ x.transpose(1, 2)).softmax(-1)
        return torch.cat([x, weights @ x], -1).view(1, -1)[:, : 2 * length]


class SharedLinear(nn.Module):
    """Two methods with one linear layer."""

    def __init__(self, layer: nn.Linear, decodes: bool) -> None:
        super().__init__()
        self.layer = layer
        self.decodes = decodes

    def forward(self, x: Tensor, *scale: Tensor) -> Tensor:
        return self.layer(x) * scale[0] if self.decodes else self.layer(x).relu()


class ConstantOutput(nn.Module):
    """Returns an unchanged buffer beside a computed tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(3.0))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.table, x + 1


class DecayingSum(nn.Module):
    """A loop with one carry: it is halved and gets the item added; each step returns their sum."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("decay", torch.tensor(0.5))

    def forward(self, start: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        def step(carry: Tensor, item: Tensor) -> tuple[Tensor, Tensor]:
            return carry * self.decay + item, carry + item

        return scan(step, start, items)


class OptionalInputs(nn.Module):
    """An input that may be None, and a scalar."""

    def forward(self, x: Tensor, offset: Tensor | None = None, factor: int = 3) -> Tensor:
        return x * factor if offset is None else x * factor + offset


class ListsAndDicts(nn.Module):
    """Inputs inside a list and a dict."""

    def forward(self, parts: list[Tensor], named: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return torch.cat(parts, 0), named["a"] + named["b"]


def big_scalars(x: Tensor) -> tuple[Tensor, ...]:
    """Scalars that float64 cannot hold."""
    return x + (2**53 + 1), x * 1, torch.where(x > 3, x, 7)


def index_and_gather(x: Tensor, index: Tensor) -> tuple[Tensor, ...]:
    ones = torch.ones(3, 5)
    picked = x.gather(1, index.unsqueeze(0).expand(5, 3))
    return x[index], x[:, index], x.index_select(0, index), picked, x.index_put((index,), ones)


def sort_and_sum(x: Tensor) -> tuple[Tensor, ...]:
    return (*x.topk(3), *x.max(1), x.cumsum(1))


def enlarge(x: Tensor) -> tuple[Tensor, Tensor]:
    return functional.interpolate(x, scale_factor=2, mode="bilinear"), functional.pixel_shuffle(x, 2)


def arange_calls() -> list[tuple[Tensor]]:
    """Three calls of EveryKind."""
    return [(torch.arange(8.0).reshape(2, 4) / 4 - shift,) for shift in (1, 0.5, 2)]
