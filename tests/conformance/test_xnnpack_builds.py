# SPDX-License-Identifier: BSD-3-Clause
"""Builds for hosts run a program lowered to XNNPACK as it is, if they are built for that program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rushlight import process
from rushlight.build import BuildRequest, BuildResult, run_request
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.sources import source_root
from rushlight.trace.profile import profile, read_events
from rushlight.trace.request import TraceRequest

INTEROP = Path(__file__).parents[1] / "interop"
NAMES = ["delegated_cnn_int8", "delegated_mlp_dynamic"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """A runner with tracing and without the Python module, for the operators of these programs."""
    request = BuildRequest(
        "host",
        models=tuple(INTEROP / name / "model_xnnpack.pte" for name in NAMES),
        defines={"EXECUTORCH_ENABLE_EVENT_TRACER": "ON"},
        integers=True,
    )
    return run_request(request, tmp_path_factory.mktemp("runner"))


@pytest.mark.conformance
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_runner_runs_the_file_that_it_was_built_for(name: str, built: BuildResult, tmp_path: Path) -> None:
    assert set(built.delegates) == {"XnnpackBackend"}
    trace = TraceRequest(tmp_path / "trace.etdp", 1 << 20)
    model = INTEROP / name / "model_xnnpack.pte"
    outcome = run(model, load_case(INTEROP / name / "case.json"), built=built, trace=trace)
    assert outcome.passed
    (delegate,) = profile(read_events(tmp_path / "trace.etdp")).operators
    assert delegate.name == "DELEGATE_CALL" and len(delegate.nodes) >= 2


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "expected"), [("model_xnnpack.pte", "ON"), ("model.pte", None)])
def test_cmake_builds_the_backend_where_a_program_asks_for_it(
    name: str, expected: str | None, tmp_path: Path
) -> None:
    words = ["-S", source_root(), "-B", tmp_path, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    words += [f"-DEXECUTORCH_SELECT_OPS_MODEL={INTEROP / 'model_mlp' / name}"]
    done = process.run(["cmake", *words])
    assert done.returncode == 0, done.stderr
    entries = dict(
        line.partition("=")[::2] for line in (tmp_path / "CMakeCache.txt").read_text().splitlines()
    )
    assert entries["EXECUTORCH_BUILD_XNNPACK:BOOL"] == (expected or "OFF")
    assert ("is not in this build" in done.stdout + done.stderr) is False
