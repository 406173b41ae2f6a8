# SPDX-License-Identifier: BSD-3-Clause
"""examples/anomaly_sensor: the committed program and its accuracy, the sketch, and the script that trains."""

from __future__ import annotations

import json
import os
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import rushlight
from rushlight import process
from rushlight.run.api import run as run_case
from rushlight.run.cases import load_case
from support.environments import ROOT
from support.example_scripts import run_example, script, skip_without

pytestmark = [pytest.mark.package, pytest.mark.heavy]

EXAMPLE = ROOT / "examples" / "anomaly_sensor"
CONSUMER = Path(__file__).parent / "consumers" / "anomaly_sensor"


@pytest.fixture(scope="module")
def run() -> ModuleType:
    return script("anomaly_sensor", "run")


@pytest.fixture(scope="module")
def vibration() -> ModuleType:
    return script("anomaly_sensor", "vibration")


@pytest.mark.device
@pytest.mark.cortex_m4
def test_the_command_checks_both_targets_and_writes_what_it_says(tmp_path: Path) -> None:
    skip_without("cortex-m4")
    shown = run_example("anomaly_sensor", "-o", tmp_path).stdout
    assert "all faults" in shown
    results = json.loads((tmp_path / "results.json").read_text())
    host, board = results["targets"]
    assert (host["target"], board["target"]) == ("host", "cortex-m4")
    assert board["alarms"] >= 6 and board["false_alarms"] == 0
    assert board["flash"] < 62_000 and board["ram"] < 30_000
    assert board["instructions"] < 1_800_000
    assert (tmp_path / "anomaly_sensor/examples/anomaly/anomaly.ino").is_file()
    assert "includes=anomaly_sensor.h" in (tmp_path / "anomaly_sensor/library.properties").read_text()
    if (tmp_path / "results.png").exists():  # matplotlib is installed
        assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_committed_stays_small() -> None:
    committed = ("anomaly_sensor.pte", "case.json", "tensors.npz")
    assert sum((EXAMPLE / name).stat().st_size for name in committed) < 60_000


def test_the_program_finds_faults_at_speeds_it_was_not_trained_on(run: ModuleType) -> None:
    rows = {row.kind: row for row in run.accuracy(rushlight.load(run.MODEL), 400, seed=77)}
    stated = json.loads(run.CASE.read_text())["auc"]
    assert stated > 0.94
    assert rows["all faults"].auc > stated - 0.02
    assert rows["all faults"].auc > rows["all faults"].auc_of_level + 0.2
    assert rows["normal"].alarms < 0.06


def test_the_area_under_the_curve_is_the_share_of_pairs_in_order(vibration: ModuleType) -> None:
    random = np.random.default_rng(0)
    healthy, faulty = random.integers(0, 9, 60).astype(float), random.integers(3, 12, 40).astype(float)
    above = faulty[:, None] - healthy
    expected = (above > 0).mean() + (above == 0).mean() / 2
    assert vibration.roc_auc(healthy, faulty) == pytest.approx(expected)


def test_no_speed_of_training_is_held_out(vibration: ModuleType) -> None:
    random = np.random.default_rng(0)
    for held_out in (False, True):
        speeds = np.array([vibration.speed(random, held_out) for _ in range(500)])
        is_inside = [any(low <= speed <= high for low, high in vibration.HELD_OUT) for speed in speeds]
        assert set(is_inside) == {held_out}


def test_the_sketch_prints_the_programs_scores_and_lights_the_led(
    run: ModuleType, vibration: ModuleType, tmp_path: Path
) -> None:
    """The sketch as it is, with a stand-in for the sensor that plays windows."""
    library = run.write_library(tmp_path)
    entries = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS": "-Wall -Wextra -Werror",
        "PACKAGE": library,
        "SKETCH": library / "examples" / "anomaly" / "anomaly.ino",
    }
    if ccache := shutil.which("ccache"):
        entries["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    defines = [f"-D{name}={value}" for name, value in entries.items()]
    process.run(["cmake", "-S", CONSUMER, "-B", tmp_path / "out", "-G", "Ninja", *defines], check=True)
    process.run(
        ["cmake", "--build", tmp_path / "out", "-j", str(os.cpu_count() or 1)], check=True, timeout=600
    )

    windows = vibration.windows(["normal"] * 4 + ["bearing"] * 40 + ["normal"] * 4, 5, True)
    windows.tofile(tmp_path / "samples")
    shown = process.run(
        [tmp_path / "out" / "sketch", tmp_path / "samples", str(len(windows))], check=True
    ).stdout.splitlines()
    got = [float(line.removeprefix("score ")) for line in shown[::2]]
    program = rushlight.load(run.MODEL)
    expected = np.concatenate([program.forward(each[None])[0] for each in windows])
    np.testing.assert_allclose(got, expected, rtol=0.02, atol=1e-4)

    above = [score > 1 for score in got]
    lit = [all(above[max(0, i - 2) : i + 1]) and i >= 2 for i in range(len(above))]
    assert shown[1::2] == [f"led {int(on)}" for on in lit]
    assert (True, False) in pairwise(lit)


def test_training_for_an_epoch_writes_a_program_that_runs(tmp_path: Path) -> None:
    pytest.importorskip("torchao", reason="missing: torch and torchao")
    words = ["--epochs", "1", "--windows", "1000", "--tested", "20", "-o", tmp_path]
    shown = process.run(
        [sys.executable, EXAMPLE / "train.py", *words], cwd=ROOT, check=True, timeout=300
    ).stdout
    assert "| all faults |" in shown
    assert run_case(tmp_path / "anomaly_sensor.pte", load_case(tmp_path / "case.json")).passed
