# SPDX-License-Identifier: BSD-3-Clause
"""Writes digits_xnnpack.pte, case.json and tensors.npz: the file that run.py starts from.

Everything here is the official package's: its quantizer makes the network of ../digits int8, its partitioner
lowers all of it to XNNPACK, its runtime computes the outputs that run.py expects. Needs torch==2.13.0,
torchao==0.18.0, executorch==1.5.1 and scikit-learn; takes a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "digits"))

from train import DigitsNet, split, train, write_case  # noqa: E402

CALIBRATION_IMAGES = 200


class StridedDigitsNet(DigitsNet):
    """float32 images [N, 1, 8, 8], from 0 to 1, to the scores of the ten digits [N, 10].

    A stride in place of the average pool, and no softmax: XNNPACK's partitioner leaves both out in int8, and
    would make three delegates of one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.strokes = torch.nn.Conv2d(12, 16, 3, stride=2, padding=1)

    def logits(self, images: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.strokes(torch.relu(self.edges(images))))
        x = torch.relu(self.shapes(x))
        return self.digit(x.mean(dim=(2, 3), keepdim=True).flatten(1))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.logits(images)


def quantized(model: StridedDigitsNet, images: np.ndarray) -> torch.nn.Module:
    """The network in int8, weights by channel; ranges come from training images."""
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    exported = torch.export.export(model, (torch.zeros(1, 1, 8, 8),)).module(check_guards=False)
    prepared = prepare_pt2e(exported, quantizer)
    with torch.no_grad():
        for image in images[:CALIBRATION_IMAGES]:
            prepared(torch.from_numpy(image[None]))
    return convert_pt2e(prepared)


def lowered(model: torch.nn.Module) -> bytes:
    """The official program of a network, lowered to XNNPACK."""
    exported = torch.export.export(model, (torch.zeros(1, 1, 8, 8),))
    edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return bytes(edge.to_executorch().buffer)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train_images, test_images, train_labels, test_labels = split()
    model = train(StridedDigitsNet(), train_images, train_labels)
    program = lowered(quantized(model, train_images))
    (HERE / "digits_xnnpack.pte").write_bytes(program)
    method = Runtime.get().load_program(program).load_method("forward")
    calls = [
        (image[None], method.execute([torch.from_numpy(image[None])])[0].numpy().copy())
        for image in test_images
    ]
    write_case(
        HERE,
        "digits_xnnpack.pte",
        test_labels,
        calls,
        name="digits_xnnpack",
        made_with="executorch 1.5.1, torch 2.13.0, torchao 0.18.0, scikit-learn's digits",
        expected_from="the official runtime",
        tolerance=0,
    )
    accuracy = np.mean([output.argmax() for _, output in calls] == test_labels)
    print(f"digits_xnnpack.pte: {len(program)} bytes, {accuracy:.0%} of {len(calls)} held-out images right")


if __name__ == "__main__":
    main()
