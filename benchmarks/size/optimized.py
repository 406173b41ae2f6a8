# SPDX-License-Identifier: BSD-3-Clause
"""Measures the flash that optimized kernels add to a runner for one model, on each target: code and
constants.

    python benchmarks/size/optimized.py                   # Markdown on stdout
    python benchmarks/size/optimized.py --write           # also put the table into README.md beside this file
    python benchmarks/size/optimized.py --models dscnn --targets host linux-armhf

Each model is built with only portable kernels, and with optimized ones where they exist, as `rushlight
size` does. Needs the toolchains (`rushlight targets`), and torch for MobileNetV2.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

from subjects import INTEROP, ROOT

from rushlight.size import SizeReport, size
from support import written

TARGETS = (
    "host", "linux-aarch64", "linux-armhf", "linux-riscv64", "cortex-m4", "cortex-m55", "rv32imafc",
)  # fmt: skip
# Folders of microkernels that are compiled in addition to the target's native variant and chosen at run time.
VARIANTS = {"host": "kernels/ukernel/x86", "linux-armhf": "kernels/ukernel/armv7"}
MICROKERNELS = "kernels/ukernel/"
BACKS = ("kernels/host", "kernels/board")


@dataclass(frozen=True)
class Row:
    """Bytes of flash: the whole runner with each library, and the components of the second one."""

    model: str
    target: str
    portable: int
    optimized: int
    kernels: int
    native: int
    variants: int


def programs(folder: Path) -> dict[str, Path]:
    """Programs by name: one from the repository, an exported one, and one without optimized kernels."""
    return {
        "dscnn": INTEROP / "model_dscnn" / "model.pte",
        "mobilenet-v2": _exported("mobilenet-v2", folder),
        "none of them": _without(folder),
    }


def _without(folder: Path) -> Path:
    """A program whose operators have no optimized kernels."""
    path = folder / "without" / "model.pte"
    if not path.is_file():
        import torch

        import rushlight.export

        class Sums(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x.cumsum(1).triu()

        path.parent.mkdir(parents=True, exist_ok=True)
        rushlight.export.export(Sums(), (torch.ones(4, 4),)).save(path)
    return path


def _exported(name: str, folder: Path) -> Path:
    path = folder / name / "model.pte"
    if not path.is_file():
        sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))
        import networks

        import rushlight.export

        path.parent.mkdir(parents=True, exist_ok=True)
        rushlight.export.export(*networks.make(networks.MODELS[name]), plan_inputs=False).save(path)
    return path


def measure(name: str, program: Path, target: str, folder: Path, jobs: int | None) -> Row:
    """Builds both runners below `folder`."""
    # Without stack records, which defeat compiler caches.
    defines = {"RUSHLIGHT_FEATURES": "no-call-graph"}
    reports: dict[str, SizeReport] = {}
    for library in ("portable", "optimized"):
        reports[library] = size(
            [program],
            target=target,
            output=folder / f"{name.replace(' ', '-')}-{target}-{library}",
            defines={**defines, "RUSHLIGHT_LIBRARY_PRIORITY": library},
            measure=False,
            jobs=jobs,
        )
    if stray := [part for part in reports["portable"].components if part.startswith((*BACKS, MICROKERNELS))]:
        raise ValueError(
            f"{name} on {target}: expected no optimized kernels in the portable build, got {', '.join(stray)}"
        )
    flash = {part: each["flash"] for part, each in reports["optimized"].components.items()}
    beside = VARIANTS.get(target)
    return Row(
        name,
        target,
        reports["portable"].flash,
        reports["optimized"].flash,
        sum(bytes for part, bytes in flash.items() if part.startswith(BACKS)),
        sum(bytes for part, bytes in flash.items() if part.startswith(MICROKERNELS) and part != beside),
        flash.get(beside, 0) if beside else 0,
    )


def to_markdown(rows: list[Row]) -> str:
    """The rows as a table, in kilobytes."""
    headings = (
        "model", "target", "portable", "optimized", "difference", "kernels", "microkernels",
        "further variants",
    )  # fmt: skip
    lines = ["| " + " | ".join(headings) + " |", "|---|---|" + "---:|" * (len(headings) - 2)]
    for row in rows:
        numbers = [row.portable, row.optimized, row.optimized - row.portable]
        numbers += [row.kernels, row.native, row.variants]
        shown = [f"{number / 1000:,.1f}" if number else "0" for number in numbers]
        lines.append("| " + " | ".join([row.model, row.target, *shown]) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "size-optimized", help="folder for builds"
    )
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = []
    for name, program in programs(options.work / "models").items():
        for target in options.targets:
            if not options.models or name in options.models:
                print(f"{name} {target} ...", file=sys.stderr, flush=True)
                rows.append(measure(name, program, target, options.work, options.jobs))
                print(rows[-1], file=sys.stderr, flush=True)
    markdown = to_markdown(rows)
    print(markdown)
    if options.write:
        written.write(Path(__file__).with_name("README.md"), "optimized", markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
