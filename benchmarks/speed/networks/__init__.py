# SPDX-License-Identifier: BSD-3-Clause
"""The models, always with the same random weights: name -> module in evaluation mode, and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from networks.branches import Bidirectional, TwoTowers, WideAndDeep, inception, small_inception
from networks.small import DsCnn, Recurrent, ResNet8, autoencoder, mlp
from networks.transformers import LlamaBlock, TextEncoder, VisionTransformer
from networks.unseen import UNSEEN
from networks.vision import mobilenet_v1, mobilenet_v2, mobilenet_v3_large, mobilenet_v3_small, resnet18

__all__ = ["BRANCHES", "MODELS", "UNSEEN", "Made", "make"]

Made = tuple[nn.Module, tuple[Tensor, ...]]


def _image(size: int = 224) -> Tensor:
    return torch.randn(1, 3, size, size)


def _sequence(kind: str, batch: int, steps: int, inputs: int, hidden: int, layers: int) -> Made:
    return Recurrent(kind, inputs, hidden, layers), (torch.randn(batch, steps, inputs),)


def _decoding() -> Made:
    past = [torch.randn(1, 2, 127, 64) for _ in range(2)]
    return LlamaBlock(1, past=127), (torch.randn(1, 1, 512), *past)


MODELS: dict[str, Callable[[], Made]] = {
    "dscnn": lambda: (DsCnn(), (torch.randn(1, 1, 49, 10),)),
    "resnet8": lambda: (ResNet8(), (_image(32),)),
    "mobilenet-v1-0.25": lambda: (mobilenet_v1(0.25, 2), (_image(96),)),
    "autoencoder": lambda: (autoencoder(), (torch.randn(1, 640),)),
    "mobilenet-v2": lambda: (mobilenet_v2(), (_image(),)),
    "mobilenet-v3-small": lambda: (mobilenet_v3_small(), (_image(),)),
    "mobilenet-v3-large": lambda: (mobilenet_v3_large(), (_image(),)),
    "resnet18": lambda: (resnet18(), (_image(),)),
    "minilm": lambda: (TextEncoder(), (torch.randint(0, 30522, (1, 128)),)),
    "vit-tiny": lambda: (VisionTransformer(), (_image(),)),
    "llama-prefill": lambda: (LlamaBlock(64), (torch.randn(1, 64, 512),)),
    "llama-decode": _decoding,
    "lstm": lambda: (Recurrent("LSTM", 64, 128), (torch.randn(1, 40, 64),)),
    "mlp": lambda: (mlp(784, 256, 128, 10), (torch.randn(1, 784),)),
}

BRANCHES: dict[str, Callable[[], Made]] = {
    "wide-and-deep": lambda: (
        WideAndDeep(),
        (torch.randint(0, 5000, (1, 8)), torch.randn(1, 13), torch.randn(1, 1024)),
    ),
    "two-towers": lambda: (TwoTowers(), (torch.randn(1, 512), torch.randn(1, 512))),
    "bidirectional-lstm": lambda: (Bidirectional(64, 128), (torch.randn(1, 40, 64),)),
    "inception": lambda: (inception(), (torch.randn(1, 480, 14, 14),)),
    "small-inception": lambda: (small_inception(), (_image(14),)),
}
"""Models with independent branches."""


_SEQUENCES = (
    ("GRU", 1, 98, 40, 64, 1),
    ("GRU", 1, 40, 64, 128, 1),
    ("GRU", 8, 30, 80, 256, 2),
    ("GRU", 1, 1, 128, 512, 1),
    ("LSTM", 1, 200, 16, 16, 1),
    ("LSTM", 8, 50, 40, 96, 3),
    ("LSTM", 1, 20, 256, 512, 2),
    ("RNN", 1, 100, 32, 48, 2),
    ("RNN", 8, 60, 64, 200, 1),
)
"""Kind, batch, steps, inputs, units of a layer, layers."""

RECURRENT: dict[str, Callable[[], Made]] = {
    f"{kind.lower()} {batch}x{steps}x{inputs}, {units} x{layers}": partial(
        _sequence, kind, batch, steps, inputs, units, layers
    )
    for kind, batch, steps, inputs, units, layers in _SEQUENCES
}
"""Recurrent layers: batch x steps x inputs, units x layers."""


def make(build: Callable[[], Made]) -> Made:
    """The result of `build` with a fixed random seed, without gradients."""
    torch.manual_seed(0)
    module, args = build()
    _calibrate(module, args)
    return module.eval().requires_grad_(False), args


def _calibrate(module: nn.Module, args: tuple[Tensor, ...]) -> None:
    """Gives batch norms random scales, as after training, and the statistics of their inputs."""
    norms = [layer for layer in module.modules() if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d))]
    if not norms:
        return
    for layer in norms:
        nn.init.uniform_(layer.weight, 0.5, 1.5)
        nn.init.normal_(layer.bias, std=0.2)
        layer.momentum = None  # the average over all batches
    with torch.no_grad():
        for _ in range(2):
            module.train()(*(torch.randn(8, *each.shape[1:]) for each in args))
