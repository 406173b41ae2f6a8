# SPDX-License-Identifier: BSD-3-Clause
"""Small networks of the common families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig
from torch import nn
from torch.nn import functional

from support.interop import models
from support.interop.models import Fn
from support.interop.official import Case, one
from support.interop.siblings import blocks


def _net(module: nn.Module, *shape: int) -> Case:
    return one(models.with_statistics(module), (torch.randn(shape),), tolerance=1e-4)


def _images(module: nn.Module, channels: int = 3, size: int = 16) -> Case:
    return _net(module, 1, channels, size, size)


def _encoder(**settings: Any) -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, **settings)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def _decoder() -> Case:
    layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)
    return one(layer, (torch.randn(1, 4, 16), torch.randn(1, 6, 16)), tolerance=1e-4)


def _tokens(module: nn.Module, length: int = 6) -> Case:
    return one(module, (torch.randint(0, 30, (1, length)),), tolerance=1e-4)


def _recurrent(kind: type[nn.Module], **settings: Any) -> Case:
    return _net(kind(4, 6, batch_first=True, **settings), 2, 5, 4)


def _autoencoder() -> nn.Module:
    encoder = [nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU()]
    decoder = [nn.ConvTranspose2d(16, 8, 2, 2), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Sigmoid()]
    return nn.Sequential(*encoder, *decoder)


def _dilated() -> nn.Module:
    layers: list[nn.Module] = []
    for dilation in (1, 2, 4):
        layers += [
            nn.Conv1d(3 if dilation == 1 else 8, 8, 3, dilation=dilation, padding=dilation),
            nn.PReLU(),
        ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 4))


CASES: dict[str, Callable[[], Case]] = {
    "lstm": lambda: _recurrent(nn.LSTM),
    "lstm_bidirectional": lambda: _recurrent(nn.LSTM, num_layers=2, bidirectional=True),
    "gru_layers": lambda: _recurrent(nn.GRU, num_layers=2),
    "rnn": lambda: _recurrent(nn.RNN, nonlinearity="relu"),
    "lstm_cell": lambda: one(nn.LSTMCell(4, 6), (torch.randn(2, 4), (torch.randn(2, 6), torch.randn(2, 6)))),
    "encoder": lambda: _net(_encoder(), 2, 5, 16),
    "encoder_norm_first": lambda: _net(_encoder(norm_first=True, activation="gelu"), 2, 5, 16),
    "decoder": _decoder,
    "multihead": lambda: one(nn.MultiheadAttention(16, 4, batch_first=True), (torch.randn(1, 5, 16),) * 3),
    "llama": lambda: _tokens(blocks.Llama()),
    "text_classifier": lambda: _tokens(blocks.TextClassifier()),
    "mixture_of_experts": lambda: _net(blocks.MixtureOfExperts(), 5, 8),
    "vit": lambda: _images(blocks.Vit()),
    "mobilenet_v2": lambda: _images(blocks.InvertedResidual(8, 8, nn.ReLU6()), 8),
    "mobilenet_v3": lambda: _images(blocks.InvertedResidual(8, 8, nn.Hardswish(), squeeze=True), 8),
    "efficientnet": lambda: _images(blocks.InvertedResidual(8, 8, nn.SiLU(), squeeze=True), 8),
    "convnext": lambda: _images(blocks.ConvNext(8), 8),
    "shufflenet": lambda: _images(blocks.Shuffle(8), 8),
    "densenet": lambda: _images(blocks.Dense(4), 4),
    "unet": lambda: _images(blocks.UNet()),
    "unet_bilinear": lambda: _images(blocks.UNet(bilinear=True)),
    "autoencoder": lambda: _images(_autoencoder()),
    "dilated_1d": lambda: _net(_dilated(), 1, 3, 20),
    "conv3d": lambda: _net(nn.Conv3d(2, 3, 3), 1, 2, 5, 5, 5),
    "instance_norm": lambda: _images(nn.Sequential(nn.InstanceNorm2d(3, affine=True), nn.Conv2d(3, 4, 3))),
    "group_norm": lambda: _images(nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8), nn.Mish())),
    "pointnet": lambda: _net(blocks.PointNet(), 1, 20, 3),
    "padding_modes": lambda: _images(Fn(blocks.padded)),
    "losses": lambda: one(Fn(blocks.losses), (torch.randn(4, 5), torch.randn(4, 5))),
    "distances": lambda: one(Fn(blocks.distances), (torch.randn(4, 5), torch.randn(6, 5))),
    "fft": lambda: one(
        Fn(lambda x: torch.view_as_real(torch.fft.rfft(x))),
        (torch.randn(2, 16),),
        edge=EdgeCompileConfig(_check_ir_validity=False),
    ),
    "grid_sample": lambda: one(
        Fn(functional.grid_sample), (torch.randn(1, 2, 4, 4), torch.rand(1, 3, 3, 2) * 2 - 1)
    ),
    "beam": lambda: _net(Fn(blocks.beam), 2, 9),
    "boxes": lambda: one(Fn(blocks.box_areas), (torch.rand(6, 4) * 10, torch.rand(3, 4) * 10)),
}
