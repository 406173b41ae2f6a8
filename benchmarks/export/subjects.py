# SPDX-License-Identifier: BSD-3-Clause
"""The exported models, with random weights, and their example inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

_ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(_ROOT / folder) for folder in ("tests", "benchmarks/speed")]

import networks.vision  # noqa: E402

from support.interop import models  # noqa: E402
from support.real_models import crepe, mtcnn, resemblyzer, silero  # noqa: E402

Subject = tuple[nn.Module, tuple[Any, ...]]


def _convolution(before: int, after: int, kernel: int = 1, **settings: Any) -> list[nn.Module]:
    padding = kernel // 2
    return [nn.Conv2d(before, after, kernel, padding=padding, bias=False, **settings), nn.BatchNorm2d(after)]


def mobilenet_v2() -> Subject:
    """Image classification, 3.5 million parameters."""
    return networks.vision.mobilenet_v2(), (torch.randn(1, 3, 224, 224),)


class Encoder(nn.Module):
    """Maps tokens (int64, [1, length]) to vectors ([1, length, width])."""

    def __init__(self, width: int, heads: int, inner: int, layers: int, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, heads, inner, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.layers(self.words(tokens))


def minilm() -> Subject:
    """A text encoder of MiniLM's size: 6 layers of width 384, 30522 words; 128 tokens."""
    return Encoder(384, 12, 1536, 6, 30522), (torch.randint(0, 30522, (1, 128)),)


def lstm() -> Subject:
    """Two recurrent layers over 40 steps, which the graph unrolls."""
    return nn.LSTM(32, 64, num_layers=2, batch_first=True), (torch.randn(1, 40, 32),)


def vision_transformer() -> Subject:
    """Images in 196 patches through 4 layers of width 192."""
    layer = nn.TransformerEncoderLayer(192, 3, 768, activation="gelu", batch_first=True, norm_first=True)
    layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    patches = [nn.Conv2d(3, 192, 16, stride=16), nn.Flatten(2), models.Fn(lambda x: x.transpose(1, 2))]
    head = [nn.LayerNorm(192), models.Fn(lambda x: x.mean(1)), nn.Linear(192, 1000)]
    return nn.Sequential(*patches, layers, *head), (torch.randn(1, 3, 224, 224),)


TIMED: dict[str, Callable[[], Subject]] = {
    "MobileNet V2": mobilenet_v2,
    "MiniLM's size": minilm,
    "LSTM, 40 steps": lstm,
}
OTHERS: dict[str, Callable[[], Subject]] = {
    "ViT, 4 layers": vision_transformer,
    "DS-CNN": lambda: (models.DsCnn(), (torch.randn(1, 1, 49, 10),)),
    "ResNet-8": lambda: (models.ResNet8(), (torch.randn(1, 3, 32, 32),)),
    "autoencoder": lambda: (models.mlp(640, 128, 128, 8, 128, 128, 640), (torch.randn(1, 640),)),
    "GRU, 20 steps": lambda: (nn.GRU(16, 32, batch_first=True), (torch.randn(1, 20, 16),)),
    "silero VAD": lambda: (silero.SileroVad(), (torch.randn(1, silero.CHUNK),)),
    "MTCNN P-Net": lambda: (mtcnn.FaceNet("pnet"), (torch.randn(1, 3, 48, 48),)),
    "MTCNN R-Net": lambda: (mtcnn.FaceNet("rnet"), (torch.randn(1, 3, 24, 24),)),
    "MTCNN O-Net": lambda: (mtcnn.FaceNet("onet"), (torch.randn(1, 3, 48, 48),)),
    "CREPE tiny": lambda: (crepe.CrepeTiny(), (torch.randn(1, crepe.SAMPLES),)),
    "Resemblyzer, 40 frames": lambda: (
        resemblyzer.VoiceEncoder(),
        (torch.randn(1, 40, resemblyzer.CHANNELS),),
    ),
}


def _linears() -> Subject:
    return nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(25)]), (torch.randn(1, 1024),)


def _convolutions() -> Subject:
    layers = [layer for _ in range(11) for layer in (*_convolution(512, 512, 3), nn.ReLU())]
    return nn.Sequential(*layers), (torch.randn(1, 512, 8, 8),)


def _transposed() -> Subject:
    weights = {f"w{i}": torch.randn(1024, 1024) * 0.03 for i in range(25)}

    def multiply(x: Tensor, **each: Tensor) -> Tensor:
        for weight in each.values():
            x = x @ weight.T
        return x

    return _WithBuffers(multiply, weights), (torch.randn(1, 1024),)


class _WithBuffers(nn.Module):
    """A function as a module with buffers."""

    def __init__(self, function: Callable[..., Tensor], tensors: dict[str, Tensor]) -> None:
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, **dict(self.named_buffers()))


LARGE: dict[str, Callable[[], Subject]] = {
    "25 linear layers": _linears,
    "11 convolutions with batch norms": _convolutions,
    "25 products with transposed buffers": _transposed,
    "MiniLM's size": minilm,
}


LAYOUTS: dict[str, Callable[[], Subject]] = {
    "DS-CNN": OTHERS["DS-CNN"],
    "ResNet-8": OTHERS["ResNet-8"],
    "MobileNet V2": mobilenet_v2,
    "MobileNet V3 small": lambda: (networks.vision.mobilenet_v3_small(), (torch.randn(1, 3, 224, 224),)),
    "ResNet-18": lambda: (networks.vision.resnet18(), (torch.randn(1, 3, 224, 224),)),
}
"""Convolutional networks whose calls are timed."""


def make(build: Callable[[], Subject]) -> Subject:
    """Returns a model in evaluation mode with its inputs, the same each time."""
    torch.manual_seed(0)
    module, args = build()
    for parameter in module.parameters():
        if parameter.dim() > 1:  # copied layers differ, as after training
            nn.init.normal_(parameter, std=0.02)
    return models.with_statistics(module).eval(), args
