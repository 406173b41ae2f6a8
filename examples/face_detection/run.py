# SPDX-License-Identifier: BSD-3-Clause
"""Finds the faces of a picture on each target, and writes the picture with boxes around them.

Prints a table, and writes faces.png and results.json. Exit status 0 only if every target finds the boxes that
PyTorch finds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from detector import Evaluate, Faces, detect
from export import export, package_weights
from model import NETS, load
from PIL import Image, ImageDraw
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from rushlight.errors import RushlightError
from rushlight.run.api import run
from rushlight.run.cases import Call, Case

TARGETS = ["host", "linux-aarch64"]
LARGEST = 256
"""Longest side of the picture that is searched: P-Net's memory is planned for the first of its pyramid."""
SMALLEST_FACE = 20


@dataclass
class Target:
    """Runs the program's methods on a target, and sums up what that costs."""

    name: str
    program: Path
    folder: Path
    calls: dict[str, int] = field(default_factory=dict)
    instructions: int = 0
    milliseconds: float = 0.0

    def evaluate(self, method: str, inputs: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
        """As detector.Evaluate. Errors: rushlight's own."""
        if not inputs:
            return []
        case = Case(method, 0.0, [Call(method, [each], None) for each in inputs])
        outcome = run(self.program, case, target=self.name, build_folder=self.folder / self.name)
        self.calls[method] = len(inputs)
        self.instructions += sum(call.result.instructions for call in outcome.calls)
        self.milliseconds += sum(call.result.ns for call in outcome.calls) / 1e6
        return [call.result.outputs for call in outcome.calls]

    def cost(self) -> str:
        """Instructions where the target counts them, or milliseconds."""
        return (
            f"{self.instructions / 1e6:,.0f} M instr."
            if self.instructions
            else f"{self.milliseconds:,.0f} ms"
        )


@dataclass(frozen=True)
class Found:
    """The result of one target. `difference` is the largest of a box's edge from PyTorch's, in pixels of the
    picture that was searched; None if the number of faces differs."""

    target: str
    boxes: list[list[float]]
    scores: list[float]
    calls: dict[str, int]
    cost: str
    difference: float | None


def eager(weights: Path) -> Evaluate:
    """The networks in PyTorch."""
    nets = {name: load(name, weights / f"{name}.pt") for name in NETS}

    def evaluate(method: str, inputs: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
        with torch.no_grad():
            return [[output.numpy() for output in nets[method](torch.from_numpy(each))] for each in inputs]

    return evaluate


def difference(faces: Faces, expected: Faces) -> float | None:
    """The largest difference of an edge; None for another number of faces."""
    if len(faces.boxes) != len(expected.boxes):
        return None
    return float(np.abs(faces.boxes - expected.boxes).max(initial=0.0))


def find(picture: Image.Image, target: Target, expected: Faces) -> tuple[Faces, Found]:
    """The faces on one target. Errors: rushlight's own."""
    faces = detect(picture, target.evaluate, SMALLEST_FACE)
    found = Found(
        target.name,
        faces.boxes.tolist(),
        faces.scores.tolist(),
        target.calls,
        target.cost(),
        difference(faces, expected),
    )
    return faces, found


def annotated(picture: Image.Image, faces: Faces, scale: float) -> Image.Image:
    """A copy of the picture with a box, a probability and five points for each face."""
    copy = picture.copy()
    pen = ImageDraw.Draw(copy)
    line = max(2, round(max(picture.size) / 200))
    for box, score, points in zip(faces.boxes * scale, faces.scores, faces.points * scale, strict=True):
        pen.rectangle(tuple(box), outline="#3ddc84", width=line)
        pen.text((box[0], box[3] + line), f"{score:.1%}", fill="#3ddc84", font_size=6 * line)
        for x, y in points:
            pen.ellipse((x - line, y - line, x + line, y + line), fill="#ffd54f")
    return copy


def table(rows: Sequence[Found]) -> Table:
    """One row a target, within 80 columns."""
    shown = Table(title="MTCNN, float32, weights of facenet-pytorch", box=SIMPLE, pad_edge=False)
    shown.add_column("target", no_wrap=True)
    for heading in ("faces", "probability", "difference", "calls", "the networks"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for found in rows:
        off = "[red]other faces[/]" if found.difference is None else f"{found.difference:.0e} px"
        scores = " ".join(f"{score:.4f}" for score in found.scores)
        calls = " + ".join(str(count) for count in found.calls.values())
        shown.add_row(found.target, str(len(found.boxes)), scores, off, calls, found.cost)
    shown.caption = "difference: largest of a box's edge from PyTorch's; calls: P-Net + R-Net + O-Net"
    return shown


def astronaut() -> Path:
    """A portrait of Eileen Collins by NASA, in the public domain: the package scikit-image has it."""
    found = importlib.util.find_spec("skimage")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("error: no picture: name one with --picture, or pip install scikit-image")
    return Path(found.submodule_search_locations[0]) / "data" / "astronaut.png"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("--picture", type=Path, help="any picture [default: scikit-image's astronaut]")
    parser.add_argument(
        "--weights", type=Path, help="folder of pnet.pt, rnet.pt, onet.pt [default: the package's]"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/face_detection"), help="folder")
    options = parser.parse_args()
    weights = options.weights or package_weights()
    picture = Image.open(options.picture or astronaut()).convert("RGB")
    scale = max(1.0, max(picture.size) / LARGEST)
    small = picture.resize(tuple(round(side / scale) for side in picture.size), Image.Resampling.BOX)
    program = options.output / "faces.pte"
    export(weights, program)
    expected = detect(small, eager(weights), SMALLEST_FACE)
    try:
        found = [find(small, Target(name, program, options.output), expected) for name in options.targets]
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows = [row for _, row in found]
    Console().print(table(rows))
    annotated(picture, found[-1][0], scale).save(options.output / "faces.png")
    (options.output / "results.json").write_text(json.dumps([asdict(row) for row in rows]) + "\n")
    return 0 if all(row.difference is not None and row.difference < 0.01 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
