# SPDX-License-Identifier: BSD-3-Clause
"""Trains a little language model, exports it, and lets boards under QEMU write text with it.

Prints the text, the instructions and the sizes for each board. Training takes some minutes; a model in the
output folder is not trained again. Needs PyTorch and the extra `llm`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from export import export
from train import Shape, docstrings, make

from rushlight import process, targets
from rushlight.build.sizes import read_sizes
from rushlight.errors import RushlightError

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cmake_project import ROOT, build  # noqa: E402

TARGETS = ["cortex-m55", "rv32imafc"]
STEPS = 1200
PROMPT = "Create a new "


def trained(folder: Path) -> Path:
    """The folder of the trained model."""
    if not (folder / "model.safetensors").is_file():
        make(folder, Shape(), STEPS, list(docstrings()))
    return folder


def run(name: str, program: Path, folder: Path) -> None:
    """Builds for a board, runs there, and prints the text with its cost. Errors: rushlight's own."""
    target = targets.get(name)
    target.check_builds()
    target.check_runs()
    toolchain = ROOT / "toolchains" / f"{name}.cmake"
    build(HERE, folder, MODEL=program.resolve(), CMAKE_TOOLCHAIN_FILE=toolchain)
    sizes = read_sizes(folder / "little")
    print(f"{name}:")
    print(process.run(target.command(folder / "little"), check=True, timeout=300).stdout.strip())
    print(f"flash {sizes.flash:,} B without the model, static RAM {sizes.ram:,} B\n", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("--prompt", default=PROMPT, help="the beginning of the text")
    parser.add_argument("--context", type=int, default=128, help="positions in the cache [default: 128]")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "build" / "little_language_model", help="folder"
    )
    options = parser.parse_args()
    program = options.output / "little.pte"
    try:
        report = export(
            trained(options.output / "model"), program, options.prompt, context=options.context, new_tokens=40
        )
        print(f"{program.name}: {report.parameters:,} parameters, {report.file_bytes:,} B")
        print(
            f"planned memory {report.planned_bytes:,} B, {report.cache_bytes:,} B of them cache\n", flush=True
        )
        for name in options.targets:
            run(name, program, options.output / name)
    except RushlightError as error:
        print(f"error: {error}\n{error.next_step or ''}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
