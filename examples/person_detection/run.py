# SPDX-License-Identifier: BSD-3-Clause
"""Finds the people of a picture on each target, and writes the picture with boxes around them.

Prints a table, and writes people.png and results.json. Exit status 0 only if every target finds the people
that PyTorch finds in float32.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from detector import People, overlaps, people, pixels
from export import export, package_weights, sample
from model import load
from PIL import Image, ImageDraw
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from rushlight.errors import RushlightError
from rushlight.run.api import run
from rushlight.run.cases import Call, Case

TARGETS = ["host", "linux-aarch64", "cortex-m55"]
AGREEMENT = {"int8": 0.9, "float32": 0.999}
"""Least intersection divided by union of a box and PyTorch's."""


@dataclass(frozen=True)
class Found:
    """The result of one target. `agreement` is the least intersection divided by union of a box and
    PyTorch's; None if other people were found."""

    target: str
    boxes: list[list[float]]
    scores: list[float]
    agreement: float | None
    cost: str


def eager(picture: Image.Image, weights: Path) -> People:
    """The people that PyTorch finds, in float32."""
    with torch.no_grad():
        boxes, scores = load(weights)(torch.from_numpy(pixels(picture)))
    return people(boxes.numpy(), scores.numpy(), *picture.size)


def agreement(found: People, expected: People) -> float | None:
    """The least overlap of an expected box with the box found for it; None if the people are others."""
    if len(found.boxes) != len(expected.boxes):
        return None
    if not len(found.boxes):
        return 1.0
    shared = np.array([overlaps(box, found.boxes) for box in expected.boxes])
    is_paired = len(set(shared.argmax(axis=1).tolist())) == len(shared)
    return float(shared.max(axis=1).min()) if is_paired else None


def find(
    picture: Image.Image, program: Path, target: str, folder: Path, expected: People
) -> tuple[People, Found]:
    """The people on one target. Errors: rushlight's own."""
    case = Case("people", 0.0, [Call("forward", [pixels(picture)], None)])
    result = run(program, case, target=target, build_folder=folder / target).calls[0].result
    boxes, scores = result.outputs
    found = people(boxes, scores, *picture.size)
    cost = (
        f"{result.instructions / 1e6:,.0f} M instr." if result.instructions else f"{result.ns / 1e6:,.0f} ms"
    )
    row = Found(target, found.boxes.tolist(), found.scores.tolist(), agreement(found, expected), cost)
    return found, row


def annotated(picture: Image.Image, found: People) -> Image.Image:
    """A copy of the picture with a box and a probability for each person."""
    copy = picture.copy()
    pen = ImageDraw.Draw(copy)
    line = max(2, round(max(picture.size) / 200))
    for box, score in zip(found.boxes, found.scores, strict=True):
        left, top, right, bottom = box.tolist()
        pen.rectangle((left, top, right, bottom), outline="#3ddc84", width=line)
        pen.rectangle((left, top, left + 22 * line, top + 8 * line), fill="#3ddc84")
        pen.text((left + line, top + line / 2), f"{score:.1%}", fill="black", font_size=6 * line)
    return copy


def table(rows: Sequence[Found], dtype: str) -> Table:
    """One row a target, within 80 columns."""
    shown = Table(title=f"SSDLite with MobileNetV2, {dtype}, 300 × 300 pixels", box=SIMPLE, pad_edge=False)
    shown.add_column("target", no_wrap=True)
    for heading in ("people", "probabilities", "agreement", "the network"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for found in rows:
        same = "[red]other people[/]" if found.agreement is None else f"{found.agreement:.4f}"
        scores = " ".join(f"{score:.3f}" for score in found.scores[:4])
        more = " …" if len(found.scores) > 4 else ""
        shown.add_row(found.target, str(len(found.boxes)), scores + more, same, found.cost)
    shown.caption = "agreement: least intersection over union with a box of PyTorch's in float32"
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("--picture", type=Path, help="any picture [default: scikit-image's camera]")
    parser.add_argument("--weights", type=Path, help="frozen_inference_graph.pb [default: the package's]")
    parser.add_argument("--float32", action="store_true", help="do not quantize")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/person_detection"), help="folder")
    options = parser.parse_args()
    weights, dtype = options.weights or package_weights(), "float32" if options.float32 else "int8"
    picture = Image.open(options.picture or sample("camera.png")).convert("RGB")
    program = options.output / f"people_{dtype}.pte"
    export(weights, program, dtype)
    expected = eager(picture, weights)
    try:
        found = [find(picture, program, name, options.output / dtype, expected) for name in options.targets]
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows = [row for _, row in found]
    Console().print(table(rows, dtype))
    annotated(picture, found[-1][0]).save(options.output / "people.png")
    (options.output / "results.json").write_text(json.dumps([asdict(row) for row in rows]) + "\n")
    return 0 if all(row.agreement is not None and row.agreement >= AGREEMENT[dtype] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
