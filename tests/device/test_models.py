# SPDX-License-Identifier: BSD-3-Clause
"""Official programs, built for a target with only their operators and dtypes, and run on it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import rushlight
from rushlight import targets
from rushlight.errors import BuildOnly
from rushlight.run.api import run
from rushlight.run.cases import bundled_case, load_case
from rushlight.run.outcome import RunOutcome
from rushlight.run.verify import verify
from rushlight.targets import Target
from support.boards import ALIKE, marker, usual

pytestmark = pytest.mark.device

INTEROP = Path(__file__).parents[1] / "interop"

MODELS = ["model_mlp", "model_dscnn", "model_resnet8"]
# These targets differ from another one in few instructions: one model is enough, see
# test_instruction_sets.py.
ONE_MODEL = {"cortex-m0plus", "microbit", "rv32imc", "rv64gcv"}
# Small programs: lists, control flow, dynamic shapes and one element type each. The selection is the same for
# any target, so each is built for one: a bare-metal target with or without floating point, or a 64-bit Linux.
# test_targets.py runs all programs on a target of each kind with one runner.
SMALL = {
    "cond_sum": "rv32imac",
    "dtype_bfloat16": "rv32imac",
    "dtype_bool": "cortex-m55",
    "dtype_float16": "cortex-m55",
    "dtype_float64": "cortex-m55",
    "dtype_int32": "linux-aarch64",
    "dtype_int64": "rv32imac",
    "dtype_int8": "linux-aarch64",
    "dtype_uint8": "cortex-m55",
    "dynamic_mlp": "rv32imac",
    "f64_mm": "rv32imac",
    "f64_where": "linux-aarch64",
    "list_split_cat": "linux-aarch64",
    "multi_method": "cortex-m55",
    "scan": "linux-aarch64",
    "softmax_neginf": "cortex-m55",
    "softplus": "rv32imac",
}
# One for each kind of target; the others repeat what test_targets.py runs with one runner.
SMALL_TAKEN = {"dtype_int64", "dtype_float16", "list_split_cat"}
# Bytes: runtime, selected kernels, runner, startup code and C library, without the weights.
# On a Cortex-M55, 2 kB halve the instructions of the first convolution.
DSCNN_FLASH = {"cortex-m55": 43_500, "cortex-m4": 44_000, "rv32imac": 47_000}
# Instructions of one inference; QEMU counts them exactly.
INSTRUCTIONS = {
    ("cortex-m4", "model_dscnn"): 4_700_000,
    ("cortex-m55", "model_dscnn"): 2_350_000,
    ("rv32imafc", "model_dscnn"): 6_000_000,
    ("cortex-m4", "model_resnet8"): 21_000_000,
    ("cortex-m55", "model_resnet8"): 9_400_000,
    ("rv32imafc", "model_resnet8"): 27_000_000,
}
# Models that fit into 16 kB of memory beside the runner's stack.
SMALLEST = ["cond_sum", "dtype_int8", "scan"]
SMALL_TARGETS = [
    pytest.param("cortex-m55", marks=pytest.mark.cortex_m55),
    pytest.param("rv32imac", marks=[pytest.mark.rv32imac, pytest.mark.exhaustive]),
    pytest.param("linux-aarch64", marks=pytest.mark.linux_aarch64),
]


def _run(name: str, target: Target, folder: Path) -> RunOutcome:
    if missing := target.requirements():
        pytest.skip(f"{target.name}: missing " + ", ".join(item.name for item in missing))
    case = load_case(INTEROP / name / "case.json")
    return run(INTEROP / name / "model.pte", case, target=target.name, build_folder=folder / "build")


MODEL_TARGETS = [target for target in usual() if target.name not in ONE_MODEL]


# DS-CNN runs on all targets. The MLP has no operator that DS-CNN lacks, ResNet-8 an addition and a pool: they
# run on targets with a limit of instructions, and on some targets that test_targets.py does not cover.
# Continuous integration leaves out the targets that are like another one: test_converted.py runs a model on
# them.
OTHER_MODELS = {
    "model_mlp": ["cortex-m3", "linux-armhf"],
    "model_resnet8": ["cortex-m4", "cortex-m55", "linux-riscv64", "rv32imafc"],
}


def _built_for(name: str, target: Target) -> Any:
    alike = [pytest.mark.exhaustive] if target.name in ALIKE else []
    return pytest.param(name, target, id=f"{target.name}-{name}", marks=[marker(target.name), *alike])


@pytest.mark.parametrize(
    ("name", "model_target"),
    [
        _built_for(name, target)
        for target in MODEL_TARGETS
        for name in MODELS
        if target.name in OTHER_MODELS.get(name, [target.name])
    ],
)
def test_a_model_gives_the_expected_outputs(name: str, model_target: Target, tmp_path: Path) -> None:
    outcome = _run(name, model_target, tmp_path)
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""]
    report = outcome.report
    assert report is not None and outcome.build is not None
    planned = {"model_mlp": 807_000, "model_dscnn": 64_000, "model_resnet8": 196_608}[name]
    assert abs(report.planned_bytes - planned) < 100
    budget = DSCNN_FLASH.get(model_target.name) if name == "model_dscnn" else None
    if budget is not None:
        assert outcome.build.sizes.flash < budget and outcome.build.sizes.ram < 1_000
    if model_target.kind == "bare-metal":
        most = INSTRUCTIONS.get((model_target.name, name), 2**63)
        assert 100_000 < outcome.calls[0].result.instructions < most
        assert outcome.build.sizes.model == (INTEROP / name / "model.pte").stat().st_size


@pytest.mark.parametrize(
    ("name", "small_target"),
    [
        pytest.param(
            name, target, marks=[marker(target), *([] if name in SMALL_TAKEN else [pytest.mark.exhaustive])]
        )
        for name, target in SMALL.items()
    ],
)
def test_a_small_program_gives_the_expected_outputs(name: str, small_target: str, tmp_path: Path) -> None:
    outcome = _run(name, targets.get(small_target), tmp_path)
    reasons = [call.comparison.reason for call in outcome.calls if call.comparison]
    assert reasons and not any(reasons)


@pytest.mark.clang
@pytest.mark.slow
@pytest.mark.parametrize("name", ["clang-cortex-m33", "clang-cortex-m55"])
def test_clang_builds_for_cores_that_gcc_knows_with_the_same_outputs(name: str, tmp_path: Path) -> None:
    outcome = _run("softplus", targets.get(name), tmp_path)
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""]


@pytest.mark.microbit
@pytest.mark.parametrize("name", SMALLEST)
def test_a_small_program_runs_in_16_kilobytes(name: str, tmp_path: Path) -> None:
    outcome = _run(name, targets.get("microbit"), tmp_path)
    reasons = [call.comparison.reason for call in outcome.calls if call.comparison]
    assert reasons and not any(reasons)
    assert outcome.build is not None and outcome.calls[0].result.instructions > 1_000
    assert outcome.build.sizes.flash + outcome.build.sizes.model < 262_144


@pytest.mark.cortex_m85
def test_a_runner_is_built_for_a_core_that_no_emulator_has(tmp_path: Path) -> None:
    if missing := targets.get("cortex-m85").requirements():
        pytest.skip("cortex-m85: missing " + ", ".join(item.name for item in missing))
    built = rushlight.build(INTEROP / "softplus" / "model.pte", target="cortex-m85", output=tmp_path)
    assert 10_000 < built.sizes.flash < 40_000
    (proof,) = verify(built, [INTEROP / "softplus" / "model.pte"])
    assert proof.passed is None and "QEMU has no Cortex-M85" in proof.reason
    with pytest.raises(BuildOnly, match="QEMU has no Cortex-M85"):
        _run("softplus", targets.get("cortex-m85"), tmp_path)


@pytest.mark.parametrize("small_target", SMALL_TARGETS)
def test_a_bundled_program_passes_by_its_own_expectations(small_target: str, tmp_path: Path) -> None:
    chosen = targets.get(small_target)
    if missing := chosen.requirements():
        pytest.skip(f"{small_target}: missing " + ", ".join(item.name for item in missing))
    bundle = INTEROP / "bundled" / "model.bpte"
    outcome = run(bundle, bundled_case(bundle), target=small_target, build_folder=tmp_path)
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == ["", "", ""]


@pytest.mark.parametrize("small_target", SMALL_TARGETS)
def test_weights_come_from_a_data_file(small_target: str, tmp_path: Path) -> None:
    outcome = _run("external_ptd", targets.get(small_target), tmp_path)
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""]


@pytest.mark.cortex_m55
def test_a_board_with_a_bundled_program_linked_in_holds_it_against_itself(tmp_path: Path) -> None:
    board = targets.get("cortex-m55")
    if missing := board.requirements():
        pytest.skip("cortex-m55: missing " + ", ".join(item.name for item in missing))
    bundle = INTEROP / "bundled" / "model.bpte"
    defines = {"RUSHLIGHT_EMBED": str(bundle), "RUSHLIGHT_FEATURES": "bundled-programs"}
    built = rushlight.build(bundle, target="cortex-m55", output=tmp_path, defines=defines)
    result = board.run(built.executable, [], cwd=tmp_path, timeout=60)
    assert result.stdout.splitlines() == [f"forward {i}: pass" for i in range(3)]
    exact = board.run(built.executable, ["--rtol=0", "--atol=0"], cwd=tmp_path, timeout=60)
    assert exact.returncode == 0x12 and "fail" in exact.stdout


@pytest.mark.cortex_m55
def test_a_runner_for_several_models_reads_the_one_it_is_given(tmp_path: Path) -> None:
    board = targets.get("cortex-m55")
    if missing := board.requirements():
        pytest.skip("cortex-m55: missing " + ", ".join(item.name for item in missing))
    models = [INTEROP / name / "model.pte" for name in ("softplus", "cond_sum", "gru")]
    built = rushlight.build(models[:2], target="cortex-m55", output=tmp_path)
    ends = []
    for model in models:
        shutil.copy(model, tmp_path / "given.pte")
        result = board.run(built.executable, ["--model_path=given.pte"], cwd=tmp_path, timeout=60)
        ends.append((result.returncode, result.stdout.strip()))
    assert ends == [(0, "forward"), (0, "forward"), (0x14, "error 0x14")]
