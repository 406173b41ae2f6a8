# SPDX-License-Identifier: BSD-3-Clause
"""Builds the spike detector with its own operator for each target, runs it there and compares with PyTorch.

spikes.bpte holds the expected outputs; `--export` writes it again. The exit status is 0 only if every output
on every target is what PyTorch computed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.run.api import run
from rushlight.run.cases import bundled_case

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
MODEL = HERE / "spikes.bpte"
BUILDS = HERE.parents[1] / "build" / "custom_operator"
TARGETS = ["host", "cortex-m55"]


def export_model(path: Path) -> None:
    """Exports the model, with its outputs for the example inputs."""
    from model import spike_detector

    from rushlight.export import export

    model, inputs = spike_detector()
    export(model, inputs, custom_ops=[KERNELS]).save_bundled(path)


def measure(target: str, folder: Path) -> bool:
    """Builds and runs; prints a line, and returns whether all outputs are right."""
    outcome = run(MODEL, bundled_case(MODEL), target=target, build_folder=folder / target, kernels=[KERNELS])
    assert outcome.build is not None
    verdict = "as PyTorch" if outcome.passed else "WRONG"
    sizes = outcome.build.sizes
    print(f"{target:12} {verdict}, error {outcome.max_error:.1e}, flash {sizes.flash:,} B")
    return outcome.passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("--export", action="store_true", help="export the model first: needs PyTorch")
    parser.add_argument("-o", "--output", type=Path, default=BUILDS, help="folder to build in")
    options = parser.parse_args()
    try:
        if options.export:
            export_model(MODEL)
        results = [measure(target, options.output) for target in options.targets]
    except RushlightError as error:
        print(f"error: {error}\n{error.next_step or ''}", file=sys.stderr)
        return error.exit_code
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
