# SPDX-License-Identifier: BSD-3-Clause
"""How fast models and operators run.

    python benchmarks/speed/run.py --profile MODEL...    # where our time goes, operator by operator

Needs rushlight and torch.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import torch
from hotspots import show, spots_of
from networks import MODELS, make
from rich.console import Console

import rushlight.export


def profile_models(names: list[str], turns: int, console: Console) -> None:
    """Exports each model and shows its operators' times."""
    for name in names:
        module, args = make(MODELS[name])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.pte"
            rushlight.export(module, args).save(path)
            show(name, spots_of(path, [each.numpy() for each in args], turns), console)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--profile", nargs="+", metavar="MODEL", choices=MODELS, help=", ".join(MODELS))
    parser.add_argument("--turns", type=int, default=5, help="runs of which each operator's fastest counts")
    options = parser.parse_args()
    torch.set_num_threads(1)
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 150)
    profile_models(options.profile or [], options.turns, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
