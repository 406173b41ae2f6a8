# SPDX-License-Identifier: BSD-3-Clause
"""A table of networks × dtypes that the official package lowers to XNNPACK: how far outputs differ from the
official runtime's.

    python tests/conformance/xnnpack_programs.py [--out FOLDER] [--kinds float32,int8] [--targets NAME,...]
        [--again] [NAME...]

The networks come from benchmarks/speed and support/official_xnnpack_models.py. Each program runs here as
it is and converted, and converted on each target. Writes programs.md and programs.json into OUT and prints
the first; the exit code is 1 if an output is further away than its kind allows. Programs that OUT has are
made again with --again only.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "speed"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import networks
import numpy as np
import torch
from torch import Tensor, nn

import rushlight
from rushlight.convert.files import convert_file
from rushlight.run.cases import load_case
from rushlight.run.conformance import run_conformance
from support.interop.cases import quantize_int8
from support.interop.official import DELEGATED, one, write_case
from support.official_xnnpack_models import MODELS, model

TARGETS = "linux-aarch64,cortex-m55,rv32imac"
TOLERANCES = {"float32": 1e-5, "float16": 8e-3, "int8": 1e-6, "dynamic": 1e-5}
"""Tolerances by dtype, relative to the largest element of an output. A step of int8 is a thousand times the
tolerance of int8: networks may end in floats."""
CALLS = 2
HALVES = "averages outside of the delegate are exact when converted: halves round otherwise, by one step"
STEPS = "ceil and floor of float16: a number beside a whole one becomes another"
EXPLAINED = {
    ("attentive", "int8"): HALVES,
    ("elementwise", "float16"): STEPS,
}
"""Expected differences, with the reasons."""

Made = tuple[nn.Module, tuple[Tensor, ...]]


@dataclass
class Row:
    """A program: its distance from the official outputs as it is and converted (None: it does not run), the
    results on targets, and the errors."""

    name: str
    kind: str
    unchanged: float | None = None
    converted: float | None = None
    targets: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def _small(name: str) -> Made:
    torch.manual_seed(0)
    module, shapes = model(name)
    return module, tuple(torch.randn(shape) for shape in shapes)


NETWORKS: dict[str, Callable[[], Made]] = {
    **{f"speed {name}": partial(networks.make, build) for name, build in networks.MODELS.items()},
    **{name: partial(_small, name) for name in MODELS},
}


def make(name: str, kind: str, folder: Path) -> None:
    """Writes the program of a network, its calls and the official outputs."""
    module, inputs = NETWORKS[name]()
    calls = [inputs, *(tuple(_like(value) for value in inputs) for _ in range(CALLS - 1))]
    if kind == "float16":
        module = module.half()
        calls = [tuple(x.half() if x.is_floating_point() else x for x in each) for each in calls]
    prepare = partial(quantize_int8, is_dynamic=kind == "dynamic") if kind in ("int8", "dynamic") else None
    case = one(module, *calls, delegated=True, tolerance=TOLERANCES[kind], prepare=prepare)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        write_case(f"{name} {kind}", case, folder)


def _like(value: Tensor) -> Tensor:
    return torch.randn_like(value) if value.is_floating_point() else value.flip(-1)


def difference(path: Path, case: Any) -> float:
    """The largest difference from the case's outputs, each relative to the largest element of its output."""
    method = rushlight.load(path).load_method("forward")
    worst = 0.0
    for call in case.calls:
        for found, expected in zip(method.execute(call.inputs), call.expected, strict=True):
            own, official = np.asarray(found), np.asarray(expected)
            if own.shape != official.shape or own.dtype != official.dtype:
                raise ValueError(f"expected {official.dtype}{official.shape}, got {own.dtype}{own.shape}")
            a, b = own.astype(np.float64), official.astype(np.float64)
            if not np.array_equal(np.isfinite(a), np.isfinite(b)):
                raise ValueError("numbers that are not finite differ")
            error = np.abs(np.where(np.isfinite(b), a - b, 0)).max(initial=0)
            worst = max(worst, float(error) / max(float(np.abs(b).max(initial=0)), 1e-30))
    return worst


def measure(name: str, kind: str, out: Path, again: bool) -> Row:
    """Writes a program and runs it on this machine."""
    row = Row(name, kind)
    folder = out / "programs" / f"{name}-{kind}".replace(" ", "_")
    path, plain = folder / DELEGATED, folder / "model.pte"
    try:
        if again or not (folder / "case.json").is_file():
            make(name, kind, folder)
    except Exception as error:
        row.problem = f"the official package does not make or run it: {_told(error)}"
        return row
    case = load_case(folder / "case.json")
    plain.unlink(missing_ok=True)
    try:
        row.unchanged = difference(path, case)
        done = convert_file(path, plain)
        kept = [each for method in done.methods for each in method.kept_delegates]
        if kept:
            raise ValueError(f"delegates are left: {kept}")
        row.converted = difference(plain, case)
    except Exception as error:
        row.problem = _told(error)
    return row


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def on_targets(rows: list[Row], names: list[str], out: Path) -> None:
    """Runs the converted programs on targets, with one runner for all programs."""
    plain = {
        out / "programs" / f"{row.name}-{row.kind}".replace(" ", "_") / "model.pte": row
        for row in rows
        if row.converted is not None
    }
    if not plain or not names:
        return
    found = run_conformance(list(plain), names, out / "runners", root=out / "programs")
    labels = {str(path.relative_to(out / "programs")): row for path, row in plain.items()}
    for entry in found.entries:
        told = (
            entry.status.value if entry.max_error is None else f"{entry.status.value} {entry.max_error:.1e}"
        )
        labels[entry.case].targets[entry.target] = told


def table(rows: list[Row], names: list[str]) -> str:
    """The rows in Markdown, and a line for each problem."""
    head = ["network", "numbers", "as it is", "converted", *names]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    shown = lambda value: "" if value is None else "equal" if value == 0 else f"{value:.1e}"  # noqa: E731
    for row in rows:
        cells = [row.name, row.kind, shown(row.unchanged), shown(row.converted)]
        lines.append("| " + " | ".join([*cells, *(row.targets.get(each, "") for each in names)]) + " |")
    reasons = [(row, row.problem or EXPLAINED.get((row.name, row.kind), "")) for row in rows]
    told = [f"- {row.name}, {row.kind}: {reason}" for row, reason in reasons if reason]
    return "\n".join([*lines, "", *told])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(NETWORKS))
    parser.add_argument("--out", type=Path, default=Path("out/xnnpack"), help="where to write")
    parser.add_argument("--kinds", default=",".join(TOLERANCES), help="dtypes: %(default)s")
    parser.add_argument("--targets", default=TARGETS, help="targets for converted programs: %(default)s")
    parser.add_argument("--again", action="store_true", help="export existing programs again")
    options = parser.parse_args()
    targets = [each for each in options.targets.split(",") if each]
    rows: list[Row] = []
    for name in options.names:
        for kind in options.kinds.split(","):
            rows.append(measure(name, kind, options.out, options.again))
            print(table(rows[-1:], []).splitlines()[2:], file=sys.stderr, flush=True)
    try:
        on_targets(rows, targets, options.out)
    except Exception:
        traceback.print_exc()
    (options.out / "programs.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    (options.out / "programs.md").write_text(table(rows, targets) + "\n")
    print(table(rows, targets))
    return int(any(_is_wrong(row) for row in rows))


def _is_wrong(row: Row) -> bool:
    if (row.name, row.kind) in EXPLAINED:
        return False
    far = max(row.unchanged or 0.0, row.converted or 0.0) > TOLERANCES[row.kind]
    return far or bool(row.problem) or any("FAIL" in told for told in row.targets.values())


if __name__ == "__main__":
    sys.exit(main())
