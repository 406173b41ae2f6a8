# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of the digits network (examples/digits): in float, as PyTorch's quantized graphs and as programs.

The network is trained on half of scikit-learn's digits and tested on the other half. Needs the packages
that examples/digits/train.py needs.

    python benchmarks/accuracy/quantized.py [--write]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import rushlight
from rushlight.quantize import Dynamic, RushlightQuantizer, Scheme, Static, WeightOnly, quantize

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "quantized-programs.md"
sys.path += [str(ROOT / "tests"), str(ROOT / "examples" / "digits")]

import train  # noqa: E402

from support.written import write  # noqa: E402

CALIBRATION = 100


@dataclass(frozen=True)
class Row:
    """A form of the network: how many images the graph in PyTorch and the program classify correctly, the
    largest difference of their probabilities, and the bytes of the program."""

    form: str
    graph: int
    program: int
    apart: float
    size: int


FORMS: dict[str, tuple[Scheme | None, dict[str, Any]]] = {
    "float": (None, {}),
    "`Static()`": (Static(), {}),
    "`Static()`, `equalize`, `correct_bias`": (Static(), {"equalize": True, "correct_bias": True}),
    "`Static(per_channel=False)`": (Static(per_channel=False), {}),
    '`Static(activations="int16")`': (Static(activations="int16"), {}),
    "`Dynamic()`": (Dynamic(), {}),
    "`WeightOnly()`": (WeightOnly(), {}),
    "`WeightOnly(bits=4, group_size=32)`": (WeightOnly(bits=4, group_size=32), {}),
}


def probabilities(function: Callable[[torch.Tensor], Any], images: torch.Tensor) -> np.ndarray:
    """The class probabilities of each image, with batch size 1."""
    with torch.no_grad():
        return np.concatenate([np.asarray(function(image[None])) for image in images])


def measure(
    model: torch.nn.Module, form: str, seen: torch.Tensor, images: torch.Tensor, labels: np.ndarray
) -> Row:
    """Evaluates one form of the network on all images."""
    scheme, options = FORMS[form]
    example, graph = (images[:1],), model
    if scheme is not None:
        batches = [(image[None],) for image in seen]
        graph = quantize(model, example, batches, RushlightQuantizer(scheme), **options)
    exported = rushlight.export(graph, example)
    program = rushlight.load(exported.buffer)
    theirs = probabilities(graph, images)
    ours = probabilities(lambda image: program.forward(image)[0], images)
    right = [int((found.argmax(1) == labels).sum()) for found in (theirs, ours)]
    return Row(form, *right, float(np.abs(theirs - ours).max()), exported.stored_bytes)


def table(rows: list[Row], images: int) -> str:
    """The rows as a Markdown table."""
    lines = [
        f"| {images} images | right, graph in PyTorch | right, program | largest difference | bytes |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        shares = (f"{each} ({100 * each / images:.1f} %)" for each in (row.graph, row.program))
        lines.append(f"| {row.form} | {' | '.join(shares)} | {row.apart:.1g} | {row.size:,} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/quantized-programs.md"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    known, held_out, answers, labels = train_test_split(
        images, digits.target, test_size=0.5, stratify=digits.target, random_state=0
    )
    model = train.train(known, answers)
    seen, others = torch.from_numpy(known[:CALIBRATION]), torch.from_numpy(held_out)
    rows = [measure(model, form, seen, others, labels) for form in FORMS]
    text = table(rows, len(others))
    print(text)
    if options.write:
        write(PAGE, "digits", text)


if __name__ == "__main__":
    main()
