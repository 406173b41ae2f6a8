# SPDX-License-Identifier: BSD-3-Clause
"""Builds for the calls of their models and for the processors that an option names."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.process import Result
from rushlight.size import size

DEFINES = {"RUSHLIGHT_FEATURES": "no-call-graph", "RUSHLIGHT_BUILD": "no-python"}


def exported(path: Path, kernel: int, groups: int) -> Path:
    """A program with one convolution of eight channels."""
    torch = pytest.importorskip("torch")
    import rushlight.export

    model = torch.nn.Conv2d(8, 8, kernel, groups=groups)
    rushlight.export.export(model.eval(), (torch.ones(1, 8, 9, 9),)).save(path)
    return path


def runner(models: list[Path], folder: Path, **defines: str) -> Path:
    """executor_runner for the calls of these models."""
    report = size(models, target="host", output=folder, defines={**DEFINES, **defines}, measure=False, jobs=2)
    return Path(report.executable)


def run(program: Path, model: Path, *before: str) -> Result:
    return process.run([*before, program, f"--model_path={model}"], timeout=60)


@pytest.mark.slow
def test_a_call_that_was_not_selected_is_an_error(tmp_path: Path) -> None:
    pointwise = exported(tmp_path / "pointwise.pte", kernel=1, groups=1)
    depthwise = exported(tmp_path / "depthwise.pte", kernel=3, groups=8)

    program = runner([pointwise], tmp_path / "one")
    assert run(program, pointwise).returncode == 0
    refused = run(program, depthwise)
    assert refused.returncode == 16, refused  # NotSupported
    assert (
        "convolution: this build has no code for a call with these shapes" in refused.stdout + refused.stderr
    )

    # Only the methods of the selected calls, which have no other way if their scratch memory is missing.
    program = runner([depthwise], tmp_path / "other")
    assert run(program, depthwise).returncode == 0
    short = process.run([program, f"--model_path={depthwise}", "--temporary_bytes=0"], timeout=60)
    assert short.returncode == 0x21 and "scratch memory: too small" in short.stdout + short.stderr

    program = runner([pointwise], tmp_path / "all", RUSHLIGHT_SELECT_CALLS="OFF")
    assert run(program, depthwise).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="missing: a processor of x86-64")
def test_a_build_for_one_variant_refuses_other_processors(tmp_path: Path) -> None:
    if shutil.which("qemu-x86_64") is None:
        pytest.skip("missing: qemu-x86_64 (apt-get install qemu-user)")
    model = exported(tmp_path / "pointwise.pte", kernel=1, groups=1)
    program = runner([model], tmp_path / "avx2", RUSHLIGHT_CPU_VARIANTS="avx2")
    assert run(program, model, "qemu-x86_64", "-cpu", "max").returncode == 0
    refused = run(program, model, "qemu-x86_64", "-cpu", "Westmere")
    assert refused.returncode == 70
    assert "expected a processor with avx2" in refused.stderr
