# SPDX-License-Identifier: BSD-3-Clause
"""WebAssembly: one module with the operators of all official programs runs each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight import targets
from rushlight.build import BuildResult, build
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.status import CRASH_STATUS
from rushlight.targets import Target

pytestmark = [pytest.mark.device, pytest.mark.wasm32]

INTEROP = Path(__file__).parents[1] / "interop"
PROGRAMS = sorted(
    case.parent.name for case in INTEROP.glob("*/case.json") if case.with_name("model.pte").is_file()
)
FILE_PROBLEM, INVALID_PROGRAM = 0x22, 0x23


@pytest.fixture(scope="module")
def wasm32() -> Target:
    target = targets.get("wasm32")
    if missing := target.requirements():
        pytest.skip("wasm32: missing " + ", ".join(item.name for item in missing))
    return target


@pytest.fixture(scope="module")
def union(wasm32: Target, tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """A runner with the operators of all programs, for their dtypes only."""
    models = [INTEROP / name / "model.pte" for name in PROGRAMS]
    return build(models, target=wasm32.name, output=tmp_path_factory.mktemp("wasm32"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_expected_outputs(union: BuildResult, name: str) -> None:
    case = load_case(INTEROP / name / "case.json")
    outcome = run(INTEROP / name / "model.pte", case, target="wasm32", built=union)
    reasons = [call.comparison.reason for call in outcome.calls if call.comparison]
    assert reasons and not any(reasons)
    assert outcome.report is not None and outcome.report.method_arena_bytes > 0


def test_the_module_is_as_small_as_its_sections_say(union: BuildResult) -> None:
    assert union.executable.suffix == ".wasm"
    assert union.executable.read_bytes()[:8] == b"\0asm\1\0\0\0"
    assert {"code", "data", "import"} < set(union.sizes.sections)
    assert sum(union.sizes.sections.values()) == union.sizes.flash < 400_000
    assert union.sizes.flash <= union.executable.stat().st_size


def test_files_outside_the_folder_are_not_seen(union: BuildResult, wasm32: Target, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    model = (INTEROP / "softplus" / "model.pte").read_bytes()
    (tmp_path / "outside.pte").write_bytes(model)
    (tmp_path / "inside" / "here.pte").write_bytes(model)
    results = {
        path: wasm32.run(union.executable, [f"--model_path={path}"], cwd=tmp_path / "inside").returncode
        for path in ("here.pte", "../outside.pte", str(tmp_path / "outside.pte"), "nowhere.pte")
    }
    assert results.pop("here.pte") == 0
    assert set(results.values()) == {FILE_PROBLEM}


def test_a_damaged_program_is_refused_with_the_runtimes_own_status(
    union: BuildResult, wasm32: Target, tmp_path: Path
) -> None:
    (tmp_path / "model.pte").write_bytes((INTEROP / "softplus" / "model.pte").read_bytes()[:100])
    result = wasm32.run(union.executable, ["--model_path=model.pte"], cwd=tmp_path)
    assert result.returncode == INVALID_PROGRAM and "error: " in result.stderr


@pytest.mark.parametrize("instruction", ["unreachable", "(drop (i32.load (i32.const -4)))"])
def test_a_trap_is_a_crash(wasm32: Target, tmp_path: Path, instruction: str) -> None:
    wasmtime = pytest.importorskip("wasmtime")
    module = tmp_path / "module.wasm"
    module.write_bytes(
        wasmtime.wat2wasm(f'(module (memory (export "memory") 1) (func (export "_start") {instruction}))')
    )
    result = wasm32.run(module, cwd=tmp_path)
    assert result.returncode in CRASH_STATUS and "trap" in result.stderr
