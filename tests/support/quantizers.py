# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of models from the official quantizers, calibrated with random inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

_BACKENDS = "executorch.backends"


def _xnnpack(**settings: Any) -> Any:
    module = pytest.importorskip(
        f"{_BACKENDS}.xnnpack.quantizer.xnnpack_quantizer", reason="executorch is not installed"
    )
    config = module.get_symmetric_quantization_config(**{"is_per_channel": True, **settings})
    return module.XNNPACKQuantizer().set_global(config)


def _cortex_m() -> Any:
    module = pytest.importorskip(
        f"{_BACKENDS}.cortex_m.quantizer.quantizer", reason="executorch or tosa-tools is not installed"
    )
    return module.CortexMQuantizer()


QUANTIZERS: dict[str, Callable[[], Any]] = {
    "official": _xnnpack,
    "official per tensor": lambda: _xnnpack(is_per_channel=False),
    "official dynamic": lambda: _xnnpack(is_dynamic=True),
    "cortex-m": _cortex_m,
}


def official_graph(
    quantizer: str, module: nn.Module, inputs: Sequence[torch.Tensor], batches: int = 3
) -> torch.fx.GraphModule:
    """The graph that one of QUANTIZERS returns; CortexMQuantizer takes channels-last images only."""
    given = tuple(inputs)
    if quantizer == "cortex-m":
        images = any(each.ndim == 4 for each in given)
        module = module.to(memory_format=torch.channels_last) if images else module
        given = tuple(_channels_last(each) for each in given)
    program = torch.export.export(module, given, strict=False)
    prepared = prepare_pt2e(program.module(check_guards=False), QUANTIZERS[quantizer]())
    for _ in range(batches):
        prepared(*(torch.randn_like(each) for each in given))
    return convert_pt2e(prepared)


def _channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x
