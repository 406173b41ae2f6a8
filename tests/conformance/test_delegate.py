# SPDX-License-Identifier: BSD-3-Clause
"""A model lowered to a backend by the official exporter runs with a user's own backend, on the host and on
boards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushlight import targets
from rushlight.errors import BackendNotFound
from rushlight.program import read_program
from rushlight.run.api import run
from rushlight.run.cases import Call, Case

pytest.importorskip("executorch.exir", reason="needs the official package to lower a model")

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

BACKEND = Path(__file__).parent / "affine"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """relu(scale * (x + x) + bias) * 2, the middle lowered to Affine."""
    import torch
    from executorch.exir import to_edge
    from executorch.exir.backend.backend_api import to_backend
    from executorch.exir.backend.backend_details import BackendDetails, CompileSpec, PreprocessResult

    scale, bias = torch.tensor([2.0, 3.0, -1.0]), torch.tensor([10.0, -20.0, 0.5])

    class Affine(BackendDetails):
        @staticmethod
        def preprocess(edge_program, compile_specs):
            count = np.uint32(scale.numel()).tobytes()
            return PreprocessResult(count + scale.numpy().tobytes() + bias.numpy().tobytes())

    class Inner(torch.nn.Module):
        def forward(self, x):
            return torch.relu(scale * x + bias)

    x = (torch.ones(2, 3),)
    edge = to_edge(torch.export.export(Inner(), x)).exported_program()
    lowered = to_backend(Affine.__name__, edge, [CompileSpec("relu", b"\x01")])

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lowered = lowered

        def forward(self, x):
            return self.lowered(x + x) * 2

    path = tmp_path_factory.mktemp("delegate") / "affine.pte"
    path.write_bytes(to_edge(torch.export.export(Outer(), x)).to_executorch().buffer)
    return path


def case() -> Case:
    x = np.array([[1, 2, 3], [-4, 5, -6]], np.float32)
    inner = np.maximum(np.float32([2, 3, -1]) * (x + x) + np.float32([10, -20, 0.5]), 0)
    return Case("affine", 1e-6, [Call("forward", [x], [inner * 2])] * 2)


def test_the_program_delegates(model: Path) -> None:
    [plan] = read_program(model).plans
    assert [delegate.id for delegate in plan.delegates] == ["Affine"]
    with pytest.raises(BackendNotFound, match="Affine"):
        run(model, case())


@pytest.mark.parametrize("name", ["host", "cortex-m4"])
def test_the_delegate_runs(name: str, model: Path, tmp_path: Path) -> None:
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    outcome = run(
        model, case(), target=name, build_folder=tmp_path, defines={"RUSHLIGHT_BACKENDS": str(BACKEND)}
    )
    assert outcome.passed and len(outcome.calls) == 2
