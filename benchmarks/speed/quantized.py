# SPDX-License-Identifier: BSD-3-Clause
"""Models in int8: each contestant's own static quantization of the same float module, with the same
calibration data. Contestants round differently, so that outputs are compared loosely."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from networks import MODELS, Made

NAMES = (
    "dscnn",
    "resnet8",
    "mobilenet-v1-0.25",
    "autoencoder",
    "mobilenet-v2",
    "mobilenet-v3-small",
    "resnet18",
    "mlp",
)
INT8: dict[str, Callable[[], Made]] = {f"{name} int8": MODELS[name] for name in NAMES}

_BATCHES = 4


def calibration(args: tuple[torch.Tensor, ...]) -> list[tuple[torch.Tensor, ...]]:
    """The subject's inputs and similar ones; the same each time."""
    generator = torch.Generator().manual_seed(1)
    others = [
        tuple(torch.randn(each.shape, generator=generator) for each in args) for _ in range(_BATCHES - 1)
    ]
    return [args, *others]


def with_rushlight(made: Made, path: Path) -> None:
    """Exports a model quantized by `rushlight.quantize`."""
    import rushlight.export

    graph = rushlight.quantize(made[0], made[1], calibration(made[1]))
    rushlight.export(graph, made[1], plan_inputs=False).save(path)


def by_xnnpack_quantizer(made: Made) -> Made:
    """The graph of the official quantizer for XNNPACK, with a scale for each channel."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    module, args = made
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(module, args, strict=False).module(), quantizer)
    for batch in calibration(args):
        prepared(*batch)
    return convert_pt2e(prepared), args


def quantize_onnx(made: Made, path: Path) -> None:
    """ONNX Runtime's static quantization of the model at `path`, in place: uint8 activations and int8 weights
    by channel, for which it has the fastest kernels on x86-64."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self, names: list[str]) -> None:
            self.batches: Iterator[dict[str, np.ndarray]] = iter(
                dict(zip(names, (each.numpy() for each in batch), strict=True))
                for batch in calibration(made[1])
            )

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.batches, None)

    import onnx

    ready = path.with_suffix(".ready.onnx")
    quant_pre_process(str(path), str(ready))
    names = [each.name for each in onnx.load(ready).graph.input]
    quantize_static(
        str(ready),
        str(path),
        Reader(names),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )
    ready.unlink()


def in_torch(made: Made) -> Any:
    """PyTorch's own int8 kernels, by its graph mode quantization."""
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    module, args = made
    torch.backends.quantized.engine = "x86"
    prepared = prepare_fx(module, get_default_qconfig_mapping("x86"), args)
    for batch in calibration(args):
        prepared(*batch)
    return convert_fx(prepared)
