# SPDX-License-Identifier: BSD-3-Clause
"""Models that no kernel and no pass was tuned for: one of each family, small, with random weights.

They measure whether the speed of the models of the first table holds for others. Do not tune for one of them:
change what a whole class of graphs or shapes goes through.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from networks.unseen import classic, dense, mixing, mobile, signals, tables, texts


def _image(size: int, channels: int = 3) -> Tensor:
    return torch.randn(1, channels, size, size)


def _tokens(length: int, words: int) -> Tensor:
    return torch.randint(0, words, (1, length))


def _text(shared: bool) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return texts.Bert(shared), (
        _tokens(64, 8000),
        torch.cat([torch.ones(1, 50), torch.zeros(1, 14)], 1).long(),
    )


UNSEEN: dict[str, Callable[[], tuple[nn.Module, tuple[Tensor, ...]]]] = {
    "alexnet": lambda: (classic.alexnet(), (_image(224),)),
    "vgg11": lambda: (classic.vgg11(), (_image(128),)),
    "squeezenet": lambda: (classic.squeezenet(), (_image(224),)),
    "inception-v3": lambda: (classic.inception_v3(), (_image(147),)),
    "densenet": lambda: (classic.densenet(), (_image(160),)),
    "resnext": lambda: (classic.resnext(), (_image(160),)),
    "regnet-x": lambda: (classic.regnet_x(), (_image(224),)),
    "regnet-y": lambda: (classic.regnet_y(), (_image(224),)),
    "mnasnet": lambda: (mobile.mnasnet(), (_image(160),)),
    "efficientnet-b0": lambda: (mobile.efficientnet_b0(), (_image(160),)),
    "shufflenet-v2": lambda: (mobile.shufflenet_v2(), (_image(224),)),
    "ghostnet": lambda: (mobile.ghostnet(), (_image(160),)),
    "repvgg": lambda: (mobile.repvgg(), (_image(128),)),
    "mobileone": lambda: (mobile.mobileone(), (_image(160),)),
    "convnext": lambda: (mixing.convnext(), (_image(160),)),
    "swin": lambda: (mixing.Swin(), (_image(112),)),
    "mlp-mixer": lambda: (mixing.Mixer(), (_image(160),)),
    "mobilevit": lambda: (mixing.mobilevit(), (_image(192),)),
    "poolformer": lambda: (mixing.poolformer(), (_image(160),)),
    "unet-transposed": lambda: (dense.UNet(False), (_image(96),)),
    "unet-bilinear": lambda: (dense.UNet(True), (_image(96),)),
    "deeplab": lambda: (dense.DeepLab(), (_image(128),)),
    "yolo": lambda: (dense.Yolo(), (_image(160),)),
    "ssd": lambda: (dense.Ssd(), (_image(192),)),
    "fpn": lambda: (dense.Fpn(), (_image(160),)),
    "super-resolution": lambda: (dense.super_resolution(), (_image(96, 1),)),
    "style-transfer": lambda: (dense.style_transfer(), (_image(96),)),
    "tcn": lambda: (signals.tcn(), (torch.randn(1, 12, 256),)),
    "wavenet": lambda: (signals.WaveNet(), (torch.randn(1, 1, 800),)),
    "conformer": lambda: (signals.Conformer(), (torch.randn(1, 1, 160, 80),)),
    "wav2vec": lambda: (signals.Wav2Vec(), (torch.randn(1, 1, 16000),)),
    "whisper": lambda: (signals.Whisper(), (torch.randn(1, 80, 600),)),
    "keyword-gru": lambda: (signals.Keywords(), (torch.randn(1, 1, 100, 40),)),
    "autoencoder-1d": lambda: (signals.autoencoder_1d(), (torch.randn(1, 4, 512),)),
    "ecg": lambda: (signals.ecg(), (torch.randn(1, 1, 1000),)),
    "bert": lambda: _text(False),
    "albert": lambda: _text(True),
    "gpt2": lambda: (texts.Gpt2(), (_tokens(64, 4000),)),
    "t5": lambda: (texts.T5(), (_tokens(64, 8000),)),
    "clip": lambda: (texts.Clip(), (_image(96), _tokens(32, 4000))),
    "pointnet": lambda: (tables.PointNet(), (torch.randn(1, 3, 256),)),
    "dlrm": lambda: (tables.Dlrm(), (torch.randint(0, 2000, (16, 12)), torch.randn(16, 13))),
    "temporal-fusion": lambda: (tables.TemporalFusion(), (torch.randn(1, 48, 8),)),
}
"""name -> module and its inputs."""
