# SPDX-License-Identifier: BSD-3-Clause
"""Trains the digits network and writes digits.pte, case.json and tensors.npz beside this file.

Needs torch==2.13.0, executorch==1.5.1 (in that order) and scikit-learn, which carries the images. The
export is the official package's; everything after it needs none of these three.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from executorch.exir import to_edge
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

HERE = Path(__file__).parent
HELD_OUT = 100
EPOCHS = 80
BATCH = 64
TOLERANCE = 1e-4

Calls = Sequence[tuple[np.ndarray, np.ndarray]]
"""Inputs with their outputs."""


class DigitsNet(nn.Module):
    """float32 images [N, 1, 8, 8], from 0 to 1, to the probabilities of the ten digits [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.edges = nn.Conv2d(1, 12, 3, padding=1)
        self.strokes = nn.Conv2d(12, 16, 3, padding=1)
        self.shapes = nn.Conv2d(16, 32, 3)
        self.digit = nn.Linear(32, 10)

    def logits(self, images: torch.Tensor) -> torch.Tensor:
        """The scores before the softmax, for the loss."""
        x = torch.relu(self.strokes(torch.relu(self.edges(images))))
        x = torch.relu(self.shapes(nn.functional.avg_pool2d(x, 2)))
        x = x.mean(dim=(2, 3))
        return self.digit(x)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.logits(images), dim=1)


Net = TypeVar("Net", bound=DigitsNet)


def split() -> list[np.ndarray]:
    """Train images, held-out images, train labels, held-out labels; each digit held out equally often."""
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    return train_test_split(images, digits.target, test_size=HELD_OUT, stratify=digits.target, random_state=0)


def train(model: Net, images: np.ndarray, labels: np.ndarray) -> Net:
    """Trains a network on all of `images`."""
    inputs, targets = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    steps = EPOCHS * (len(inputs) // BATCH + 1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(inputs)).split(BATCH):
            loss = nn.functional.cross_entropy(model.logits(inputs[batch]), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def write_case(folder: Path, program: str, labels: np.ndarray, calls: Calls, **about: object) -> None:
    """Writes case.json and tensors.npz: one call an image, each an input with the output to expect."""
    arrays: dict[str, np.ndarray] = {}
    listed = []
    for index, call in enumerate(calls):
        names = f"forward.{index}.input0", f"forward.{index}.output0"
        arrays.update(zip(names, call, strict=True))
        source, result = (
            {"key": name, "dtype": "float32", "shape": list(arrays[name].shape)} for name in names
        )
        listed.append({"inputs": [source], "outputs": [result]})
    np.savez_compressed(folder / "tensors.npz", **arrays)
    case = {**about, "files": [program], "labels": labels.tolist(), "methods": {"forward": listed}}
    (folder / "case.json").write_text(json.dumps(case) + "\n")


def write(model: DigitsNet, images: np.ndarray, labels: np.ndarray) -> float:
    """Writes the program and its case; returns the accuracy of eager PyTorch."""
    program = to_edge(torch.export.export(model, (torch.zeros(1, 1, 8, 8),))).to_executorch()
    (HERE / "digits.pte").write_bytes(program.buffer)
    with torch.no_grad():
        calls = [(image[None], model(torch.from_numpy(image[None])).numpy()) for image in images]
    write_case(
        HERE,
        "digits.pte",
        labels,
        calls,
        name="digits",
        made_with="executorch 1.5.1, torch 2.13.0, scikit-learn's digits",
        expected_from="PyTorch eager",
        tolerance=TOLERANCE,
    )
    return float(np.mean([expected.argmax() for _, expected in calls] == labels))


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train_images, test_images, train_labels, test_labels = split()
    model = train(DigitsNet(), train_images, train_labels)
    accuracy = write(model, test_images, test_labels)
    size = (HERE / "digits.pte").stat().st_size
    print(f"digits.pte: {size} bytes, {accuracy:.0%} of {len(test_images)} held-out images right")


if __name__ == "__main__":
    main()
