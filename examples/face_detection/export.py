# SPDX-License-Identifier: BSD-3-Clause
"""Exports MTCNN as one program of three methods. Needs the extra `export` and weights of facenet-pytorch:

pip install --no-deps facenet-pytorch==2.6.0
python examples/face_detection/export.py -o build/face_detection
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import torch
from model import NETS, load
from torch.export import Dim

import rushlight
from rushlight.export import MethodSource

LARGEST = 160
"""Largest side of a picture for P-Net: memory is planned for it."""


def package_weights() -> Path:
    """The folder of weights in the package, which is not imported: it asks for an older torch."""
    found = importlib.util.find_spec("facenet_pytorch")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("error: no weights: pip install --no-deps facenet-pytorch==2.6.0")
    return Path(found.submodule_search_locations[0]) / "data"


def export(weights: Path, output: Path) -> None:
    """Writes the program."""
    nets = {name: load(name, weights / f"{name}.pt") for name in NETS}
    # Even sizes: the pool of P-Net rounds up, and torch.export takes one form of its size.
    half_height, half_width = (
        Dim("half_height", min=7, max=LARGEST // 2),
        Dim("half_width", min=7, max=LARGEST // 2),
    )
    picture = torch.zeros(1, 3, 40, 50)
    sources = {
        "pnet": MethodSource(
            nets["pnet"], (picture,), dynamic_shapes=({2: 2 * half_height, 3: 2 * half_width},)
        ),
        "rnet": MethodSource(nets["rnet"], (torch.zeros(1, 3, 24, 24),)),
        "onet": MethodSource(nets["onet"], (torch.zeros(1, 3, 48, 48),)),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    rushlight.export(sources).save(output)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--weights", type=Path, help="folder of pnet.pt, rnet.pt, onet.pt [default: the package's]"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/face_detection/faces.pte"))
    options = parser.parse_args()
    export(options.weights or package_weights(), options.output)


if __name__ == "__main__":
    main()
