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
from support.samples import sampled  # noqa: E402

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
def test_a_topic_has_its_cases(topic: str) -> None:
    assert len([name for name in CASES if name.startswith(topic + "/")]) >= TOPICS[topic]


# Continuous integration takes a half of each topic; the committed programs of tests/interop all run there.
@pytest.mark.parametrize("name", sampled(CASES, 2))
def test_a_fresh_program_gives_what_pytorch_gives(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_case(name, CASES[name](), tmp_path)
    assert outcome(tmp_path / "model.pte") == ""
