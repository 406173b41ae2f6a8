# SPDX-License-Identifier: BSD-3-Clause
"""Language models that the official example exports: their metadata, limits, and delegates as calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight import targets
from rushlight.convert.api import convert
from rushlight.convert.files import own_operators
from rushlight.errors import RushlightError
from rushlight.program import read_model
from rushlight.run.cases import Call, Tolerance, compare, load_case
from rushlight.run.conformance import Status, run_conformance

INTEROP = Path(__file__).parents[1] / "interop"
MODELS = sorted(path.name for path in INTEROP.glob("llama_*"))
DELEGATED = sorted(path.parent.name for path in INTEROP.glob("llama_*/model_xnnpack.pte"))
CONTEXT = 32
METADATA = {
    "get_bos_id": [1],
    "get_eos_ids": [2, 3],
    "get_max_seq_len": [CONTEXT],
    "get_max_context_len": [CONTEXT],
    "get_vocab_size": [64],
    "get_n_layers": [2],
    "use_kv_cache": [True],
    "use_sdpa_with_kv_cache": [True],
    "enable_dynamic_shape": [True],
}

pytestmark = pytest.mark.conformance


def program_of(name: str) -> Path:
    (path,) = (INTEROP / name).glob("*.pte")
    return path


def forward_calls(name: str) -> tuple[list[Call], float | Tolerance]:
    case = load_case(INTEROP / name / "case.json")
    return [call for call in case.calls if call.method == "forward"], case.tolerance


def logits(program: Any, tokens: list[int], position: int) -> np.ndarray:
    (found,) = program.forward(np.array([tokens]), np.array([position]))
    return np.asarray(found)


def test_there_are_models_with_and_without_delegates() -> None:
    assert len(MODELS) >= 5 and len(DELEGATED) >= 2


@pytest.mark.parametrize("name", MODELS)
def test_metadata_is_read_through_methods(name: str) -> None:
    program = rushlight.load(program_of(name))
    assert set(program.method_names) == {"forward", *METADATA}
    assert {method: program.run(method, []) for method in METADATA} == METADATA


@pytest.mark.parametrize("name", [name for name in MODELS if name != "llama_ring_cache"])
def test_tokens_past_the_end_of_the_cache_are_refused_and_the_cache_is_as_before(name: str) -> None:
    calls, tolerance = forward_calls(name)
    program = rushlight.load(program_of(name))
    for number, call in enumerate(calls):
        for position in (CONTEXT, CONTEXT - 1, -1):
            # Refused by the table of rotations, which is sliced before, or by the cache itself.
            with pytest.raises(RushlightError, match=r"expected [0-9]+ elements|start_pos: expected 0 to"):
                logits(program, [1, 2], position)
        assert call.expected is not None
        found = program.run(call.method, call.inputs)
        comparison = compare(found, call.expected, tolerance)
        assert comparison.passed, (number, comparison.reason)


def test_a_prompt_at_once_is_what_its_tokens_give_one_by_one() -> None:
    tokens = [int(token) for token in np.random.default_rng(0).integers(0, 64, 9)]
    at_once = logits(rushlight.load(program_of("llama_float")), tokens, 0)
    stepwise = rushlight.load(program_of("llama_float"))
    steps = [logits(stepwise, [token], position) for position, token in enumerate(tokens)]
    np.testing.assert_allclose(at_once, steps[-1], rtol=1e-4, atol=1e-4)
    assert np.abs(steps[-1] - steps[-2]).max() > 0.1


@pytest.mark.parametrize("name", DELEGATED)
def test_delegates_of_4_bit_weights_become_calls_with_the_official_numbers(name: str) -> None:
    original = read_model(program_of(name))
    assert b"XnnpackBackend" in program_of(name).read_bytes()
    done = convert(original, own_operators())
    (forward,) = [plan for plan in read_model(memoryview(done.buffer)).plans if plan.name == "forward"]
    assert forward.delegates == ()
    # Each of the 15 layers, and no call that dequantizes weights.
    assert [operator for operator, _ in forward.calls()].count("rushlight::dynamic_linear.out") == 15
    assert not any("dequantize" in operator for operator in forward.operators)
    calls, tolerance = forward_calls(name)
    program = rushlight.load(done.buffer)
    for call in calls:
        assert call.expected is not None
        comparison = compare(program.run(call.method, call.inputs), call.expected, tolerance)
        assert comparison.passed, comparison.reason


@pytest.mark.device
@pytest.mark.slow
@pytest.mark.linux_aarch64
def test_a_converted_model_runs_on_aarch64(tmp_path: Path) -> None:
    if missing := targets.get("linux-aarch64").requirements():
        pytest.skip("linux-aarch64: missing " + ", ".join(item.name for item in missing))
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("case.json", "tensors.npz"):
        (folder / name).write_bytes((INTEROP / "llama_8da4w" / name).read_bytes())
    done = convert(read_model(program_of("llama_8da4w")), own_operators())
    (folder / "model_xnnpack.pte").write_bytes(done.buffer)
    result = run_conformance(
        [folder / "model_xnnpack.pte"], ["linux-aarch64"], tmp_path / "built", root=tmp_path
    )
    (entry,) = result.entries
    assert entry.status is Status.PASSED, entry.reason
