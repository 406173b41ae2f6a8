# SPDX-License-Identifier: BSD-3-Clause
"""Programs like the ones of tests/interop, written now by the official package, give PyTorch's results."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

pytest.importorskip("executorch", reason="executorch, the official package, is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

from rushlight.errors import RushlightError  # noqa: E402
from rushlight.run.api import run  # noqa: E402
from rushlight.run.cases import load_case  # noqa: E402
from support.interop.official import write_case  # noqa: E402
from support.interop.siblings import CASES  # noqa: E402

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

# The modules of tests/support/interop/siblings, and the least number of cases of each.
TOPICS = {
    "control": 14,
    "dtypes": 22,
    "dynamic": 19,
    "layout": 15,
    "networks": 34,
    "quantized": 17,
    "settings": 25,
    "state": 16,
    "structure": 16,
}


def outcome(model: Path) -> str:
    """ "" if every call gives the expected outputs, else the error."""
    try:
        ran = run(model, load_case(model.with_name("case.json")))
    except RushlightError as error:
        return error.message
    reasons = [call.comparison.reason for call in ran.calls if call.comparison]
    return "; ".join(f"call {index}: {reason}" for index, reason in enumerate(reasons) if reason)


@pytest.mark.parametrize("topic", TOPICS)
def test_fresh_programs_give_what_pytorch_gives(topic: str, tmp_path: Path) -> None:
    cases = {name: make for name, make in CASES.items() if name.startswith(topic + "/")}
    assert len(cases) >= TOPICS[topic]
    wrong = {}
    for name, make in cases.items():
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_case(name, make(), tmp_path / name)
        if found := outcome(tmp_path / name / "model.pte"):
            wrong[name] = found
    assert wrong == {}
