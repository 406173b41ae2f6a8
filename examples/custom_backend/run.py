# SPDX-License-Identifier: BSD-3-Clause
"""Lowers a part of a model to a backend of your own, builds that for each target and runs the model there.

Prints which nodes the backend took, and compares each output with PyTorch's. The exit status is 0 only if all
are right. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from dense import DensePartitioner
from model import gestures

from rushlight.errors import RushlightError
from rushlight.export import export
from rushlight.export.delegate import PartitionResult
from rushlight.program import describe, read_model
from rushlight.run.api import run
from rushlight.run.cases import bundled_case

HERE = Path(__file__).resolve().parent
BACKEND = HERE / "backend"
BUILDS = HERE.parents[1] / "build" / "custom_backend"
TARGETS = ["host", "cortex-m55"]


class Shown(DensePartitioner):
    """Prints the graph with the delegate of each node, beside choosing them."""

    def partition(self, exported_program: torch.export.ExportedProgram) -> PartitionResult:
        found = super().partition(exported_program)
        for node in exported_program.graph.nodes:
            if node.op == "call_function":
                shape = list(node.meta["val"].shape)
                print(f"  {node.meta.get('delegation_tag', ''):8} {node.target!s:26} {shape}")
        return found


def export_model(path: Path) -> None:
    """Exports the model with its dense layers lowered, and with PyTorch's outputs for random windows."""
    model, inputs = gestures()
    path.parent.mkdir(parents=True, exist_ok=True)
    print("nodes of the graph, and the delegate that takes each:")
    exported = export(model, inputs, partitioner=Shown())
    exported.save_bundled(path, {"forward": [(torch.randn(2, 3, 64),) for _ in range(10)]})


def show(path: Path) -> None:
    """Prints the delegates of the program with the bytes of their payloads, and its other calls."""
    [method] = describe(read_model(path))["methods"]
    delegates = [f"{each['id']} ({each['bytes']:,} B)" for each in method["delegates"]]
    kernels = [f"{each['calls']} x {each['name']}" for each in method["operators"]]
    print("delegates of the program:", ", ".join(delegates))
    print("its other calls:", ", ".join(kernels))


def measure(path: Path, target: str, folder: Path) -> bool:
    """Builds and runs; prints a line, and returns whether all outputs are right."""
    defines = {"RUSHLIGHT_BACKENDS": str(BACKEND)}
    case = bundled_case(path)
    outcome = run(path, case, target=target, build_folder=folder, defines=defines)
    assert outcome.build is not None
    verdict = "as PyTorch" if outcome.passed else "WRONG"
    flash = f"flash {outcome.build.sizes.flash:,} B"
    print(f"{target:12} {len(case.calls)} calls {verdict}, error {outcome.max_error:.1e}, {flash}")
    return outcome.passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("-o", "--output", type=Path, default=BUILDS, help="folder to build in")
    options = parser.parse_args()
    model = options.output / "gestures.bpte"
    try:
        export_model(model)
        show(model)
        results = [measure(model, target, options.output / target) for target in options.targets]
    except RushlightError as error:
        print(f"error: {error}\n{error.next_step or ''}", file=sys.stderr)
        return error.exit_code
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
