# SPDX-License-Identifier: BSD-3-Clause
"""Programs that PyTorch's kernels compute in executor_runner, with eager's outputs as the expected ones; and
the C++ tests of aten/."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import rushlight
from rushlight import errors, process

ROOT = Path(__file__).resolve().parents[2]
aten = torch.ops.aten
BUILD = [
    "-DCMAKE_BUILD_TYPE=Release",  # as `rushlight build`, which has compiled the kernels then
    "-DRUSHLIGHT_BUILD=tests,aten,no-install",
    "-DEXECUTORCH_SELECT_OPS_LIST=aten::add.out,aten::exp.out,aten::nan_to_num.out,aten::mm.out,aten::nonzero.out,"
    "executorch_prim::add.Scalar",
]
pytestmark = [pytest.mark.slow, pytest.mark.heavy]

X = torch.tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75], [1.5, -2.5, 4.0]])
C = torch.complex(X, X.t())


class Of(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


# Each program calls an operator that rushlight has no kernel for, or not for the dtype; the list names
# operators that export would decompose.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], list[Any]]] = {
    "block_diag": (lambda x: torch.block_diag(x, x), (X,), [aten.block_diag.default]),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.t()), (X,), [aten.linalg_cholesky.default]),
    "complex_det": (torch.linalg.det, (C,), [aten.linalg_det.default]),
    "complex_nan_to_num": (lambda z: torch.nan_to_num(z / 0.0, 0.5), (C,), []),
    "count_nonzero": (torch.count_nonzero, (X,), [aten.count_nonzero.default]),
    "hstack": (lambda x: torch.hstack([x, x]), (X,), [aten.hstack.default]),
    "huber_loss": (lambda x: torch.nn.functional.huber_loss(x, x + 3), (X,), [aten.huber_loss.default]),
    "kron": (lambda x: torch.kron(x, x), (X,), [aten.kron.default]),
    "logsumexp": (lambda x: torch.logsumexp(x, [0]), (X,), [aten.logsumexp.default]),
    "matrix_power": (lambda x: torch.linalg.matrix_power(x, 3), (X,), [aten.linalg_matrix_power.default]),
    "nansum": (lambda x: torch.nansum(x, 0), (X,), [aten.nansum.default]),
    "quantile": (lambda x: torch.quantile(x, 0.5, 1), (X,), [aten.quantile.scalar]),
    "rfft": (lambda x: torch.fft.rfft(x, norm="ortho"), (X,), [aten.fft_rfft.default]),
    "std_mean": (lambda x: torch.std_mean(x, [0], correction=1), (X,), [aten.std_mean.correction]),
    "tensordot": (lambda x: torch.tensordot(x, x, 1), (X,), [aten.tensordot.default]),
    "weight_norm": (lambda x: torch._weight_norm(x, x[:, :1]), (X,), [aten._weight_norm.default]),
}  # fmt: skip


@pytest.fixture(scope="module")
def built(build: Callable[..., Path]) -> Path:
    return build(*BUILD, targets=["aten_tests", "executor_runner"], source=ROOT)


def exported(name: str, folder: Path) -> Path:
    function, inputs, keep = PROGRAMS[name]
    path = folder / f"{name}.bpte"
    rushlight.export(Of(function), inputs, keep=keep, fallback="aten").save_bundled(path)
    return path


def test_the_cpp_tests_pass(built: Path) -> None:
    process.run([built / "tests" / "aten" / "aten_tests"], check=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_eagers_outputs(name: str, built: Path, tmp_path: Path) -> None:
    path = exported(name, tmp_path)
    with pytest.raises(errors.RushlightError):  # no kernel of this process can do it
        rushlight.load(path).forward(*PROGRAMS[name][1])
    result = process.run([built / "executor_runner", f"--model_path={path}"])
    assert result.returncode == 0, result.stderr
    assert "forward 0: pass" in result.stdout


@pytest.mark.exhaustive
def test_the_command_line_builds_and_verifies_such_a_runner(tmp_path: Path) -> None:
    words = [exported("kron", tmp_path), "-D", "RUSHLIGHT_BUILD=aten", "-o", tmp_path / "out"]
    result = process.run([sys.executable, "-m", "rushlight.cli", "build", *words])
    assert result.returncode == 0, result.stderr
    assert "its own cases: pass" in result.stdout


@pytest.mark.exhaustive
def test_pytorch_comes_first_on_request(build: Callable[..., Path], tmp_path: Path) -> None:
    """rushlight's exp differs from PyTorch's in the last bits of some elements."""
    options = [*BUILD, "-DRUSHLIGHT_LIBRARY_PRIORITY=aten"]
    runner = build(*options, targets=["executor_runner"], source=ROOT) / "executor_runner"
    path = tmp_path / "exp.bpte"
    exported = rushlight.export(Of(torch.exp), (torch.linspace(-80, 80, 10_000),))
    exported.save_bundled(path)
    result = process.run([runner, f"--model_path={path}", "--rtol=0", "--atol=0"])
    assert result.returncode == 0, result.stderr


def refusal(folder: Path, *options: str, **environment: str) -> str:
    # The checkout: an installed package's folder has torch beside it.
    command = ["cmake", "-S", ROOT, "-B", folder / "build", "-G", "Ninja", *options]
    result = process.run(command, env=environment)
    assert result.returncode != 0
    return " ".join(result.stderr.split())


def test_a_build_without_torch_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    told = refusal(tmp_path, "-DRUSHLIGHT_BUILD=aten", *BUILD[2:], PYTHONPATH=path)
    assert "torch: expected a wheel with C++ libraries" in told
    assert "pip install torch" in told


def test_a_priority_of_pytorch_needs_its_kernels(tmp_path: Path) -> None:
    told = refusal(tmp_path, "-DRUSHLIGHT_LIBRARY_PRIORITY=aten")
    assert "expected aten as its first name, and RUSHLIGHT_BUILD=aten" in told
