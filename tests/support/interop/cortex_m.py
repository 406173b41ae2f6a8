# SPDX-License-Identifier: BSD-3-Clause
"""Programs for the official Cortex-M backend: its quantizer, its passes, its operators. Expected values come
from the lowered graph, whose operators have a Python reference: no tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from executorch.exir import EdgeProgramManager
from torch import Tensor, nn
from torch.nn import functional
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from support.interop import models
from support.interop.official import Arguments, Case, one

NOTE = (
    "CortexMQuantizer and CortexMPassManager for the {cpu}{layout}; expected is the lowered graph in PyTorch"
)
CALLS = 4
CALIBRATIONS = 7


class Attention(nn.Module):
    """One head of attention and a layer after it. Projections have no bias: the backend's passes give a
    linear layer with a bias the dtype int32, and a product of it with a softmax is not supported."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.bmm(self.query(x), self.key(x).transpose(1, 2)) / math.sqrt(x.shape[-1])
        return torch.tanh(self.out(torch.bmm(scores.softmax(-1), self.value(x))) + x)


class Images(nn.Module):
    """The backend's other image operators: pools, padding, a transposed convolution, hardswish, a product and
    a difference, a depthwise convolution with more outputs than inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.depthwise = nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=8)
        self.grouped = nn.Conv2d(16, 8, 3, padding=1, groups=2, bias=False)
        self.up = nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1)

    def forward(self, image: Tensor) -> Tensor:
        x = functional.hardswish(self.first(image))
        x = functional.max_pool2d(functional.pad(x, (1, 0, 0, 1)), 2, 1)
        x = functional.relu(self.grouped(self.depthwise(x)))
        x = self.up(functional.avg_pool2d(x, 3, 1, 1))
        y = torch.sigmoid(x)
        return x * y - y


def _quantize(explicit_layout: bool) -> Callable[[nn.Module, Arguments], nn.Module]:
    def quantize(module: nn.Module, example: Arguments) -> nn.Module:
        # Imported here, as it needs tosa-tools, which other cases do not.
        from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

        prepared = prepare_pt2e(module, CortexMQuantizer(use_explicit_layout=explicit_layout))
        prepared(*example)
        for _ in range(CALIBRATIONS):
            prepared(*[torch.randn_like(value) for value in example])
        return convert_pt2e(prepared)

    return quantize


def _transform(cpu: str, explicit_layout: bool) -> Callable[[EdgeProgramManager], EdgeProgramManager]:
    def transform(edge: EdgeProgramManager) -> EdgeProgramManager:
        from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
        from executorch.backends.cortex_m.target_config import CortexMTargetConfig

        config = CortexMTargetConfig.from_target_string(cpu)
        for method in edge.methods:
            passes = CortexMPassManager(
                edge.exported_program(method), target_config=config, use_explicit_layout=explicit_layout
            )
            edge._edge_programs[method] = passes.transform()
        return edge

    return transform


def _case(module: nn.Module, *shape: int, cpu: str = "cortex-m55", explicit_layout: bool = False) -> Case:
    from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config

    order = torch.channels_last if len(shape) == 4 and not explicit_layout else torch.contiguous_format
    inputs: list[tuple[Any, ...]] = [
        (torch.randn(shape).contiguous(memory_format=order),) for _ in range(CALLS)
    ]
    return one(
        models.with_statistics(module).to(memory_format=order),
        *inputs,
        tolerance=0,
        note=NOTE.format(cpu=cpu, layout=", explicit layout" if explicit_layout else ""),
        prepare=_quantize(explicit_layout),
        edge=cortex_m_edge_compile_config(),
        transform=_transform(cpu, explicit_layout),
        expects_lowered=True,
    )


CASES: dict[str, Callable[[], Case]] = {
    "cortex_m_dscnn": lambda: _case(models.DsCnn(), 1, 1, 49, 10),
    "cortex_m_resnet8": lambda: _case(models.ResNet8(), 1, 3, 32, 32, cpu="cortex-m4"),
    "cortex_m_autoencoder": lambda: _case(models.mlp(128, 64, 64, 8, 64, 64, 128), 1, 128, cpu="cortex-m4"),
    "cortex_m_attention": lambda: _case(Attention(16), 1, 8, 16),
    "cortex_m_images": lambda: _case(Images(), 1, 3, 12, 12),
    "cortex_m_images_nhwc": lambda: _case(Images(), 1, 3, 12, 12, explicit_layout=True),
}
