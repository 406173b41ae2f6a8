# SPDX-License-Identifier: BSD-3-Clause
"""The networks behind the programs of this folder, as plain PyTorch modules with example calls."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Inputs = tuple[Tensor, ...]


@dataclass
class Case:
    """A module, its calls in order (the first one is exported with), and the allowed error."""

    module: nn.Module
    calls: list[Inputs]
    tolerance: float = 1e-5
    dynamic_shapes: Any = None
    xnnpack: bool = False


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


def with_statistics(module: nn.Module) -> nn.Module:
    """The module with batch norms as after training: means and variances that are not 0 and 1."""
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.normal_(layer.running_mean, std=0.2)
            nn.init.uniform_(layer.running_var, 0.5, 1.5)
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.normal_(layer.bias, std=0.2)
    return module


def split_and_stack(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    parts = torch.cat([a, b], 1).split_with_sizes([2, 3, 3], 1)
    return (*parts, torch.stack([a, a]))


def cond_sum(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))


def arithmetic(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a + b, a * b, a > b, a.sum(1), torch.where(a > b, a, b)


def logic(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a & b, a | b, ~a, a ^ b, a.any(1), a.all()


def double_mm(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a @ b, a.exp(), a.softmax(-1), functional.gelu(a)


def softmaxes(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.softmax(-1), x.log_softmax(-1)


def _pair(dtype: torch.dtype, shape: tuple[int, ...] = (4, 6)) -> Inputs:
    """Two tensors of small values."""
    if dtype is torch.bool:
        return tuple(torch.rand(shape) > 0.5 for _ in range(2))
    if dtype.is_floating_point:
        return tuple(torch.randn(shape, dtype=torch.float64).to(dtype) for _ in range(2))
    return tuple(torch.randint(0, 5, shape).to(dtype) for _ in range(2))


def _model(module: nn.Module, *shape: int) -> Case:
    return Case(with_statistics(module), [(torch.randn(shape),)], tolerance=1e-4, xnnpack=True)


def _dtype(dtype: torch.dtype) -> Case:
    low_precision = dtype in (torch.float16, torch.bfloat16)
    function = logic if dtype is torch.bool else arithmetic
    return Case(Fn(function), [_pair(dtype)], tolerance=2e-2 if low_precision else 1e-5)


def _double(function: Callable[..., Any], *shape: int) -> Case:
    return Case(Fn(function), [_pair(torch.float64, shape or (4, 6))])


DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float64")
NEGATIVE_INFINITY = [[0.0, -torch.inf], [88.0, -88.0], [1e4, 1e4]]

CASES: dict[str, Callable[[], Case]] = {
    "model_mlp": lambda: _model(mlp(784, 256, 10), 1, 784),
    "model_dscnn": lambda: _model(DsCnn(), 1, 1, 49, 10),
    "model_resnet8": lambda: _model(ResNet8(), 1, 3, 32, 32),
    "dynamic_mlp": lambda: Case(
        mlp(16, 32, 8),
        [(torch.randn(batch, 16),) for batch in (4, 1, 64)],
        dynamic_shapes={"input": {0: torch.export.Dim("batch", min=1, max=64)}},
    ),
    "list_split_cat": lambda: Case(Fn(split_and_stack), [(torch.randn(3, 4), torch.randn(3, 4))]),
    "cond_sum": lambda: Case(Fn(cond_sum), [(torch.ones(3, 4),), (-torch.ones(3, 4),)]),
    "softplus": lambda: Case(nn.Softplus(), [(torch.randn(1, 4),)]),
    "softmax_neginf": lambda: Case(Fn(softmaxes), [(torch.tensor(NEGATIVE_INFINITY),)]),
    "f64_add": lambda: _double(torch.add),
    "f64_mul": lambda: _double(torch.mul),
    "f64_mm": lambda: _double(double_mm, 6, 6),
    "f64_sum": lambda: _double(lambda a, b: a.sum(1)),
    "f64_where": lambda: _double(lambda a, b: torch.where(a > b, a, b)),
    **{f"dtype_{name}": lambda name=name: _dtype(getattr(torch, name)) for name in DTYPES},
}
