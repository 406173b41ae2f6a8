# SPDX-License-Identifier: BSD-3-Clause
"""Programs like those of tests/interop, made now with the official package, give what PyTorch gives."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from rushlight.codegen.table import load_table
from rushlight.devtools.cases import load_case
from rushlight.devtools.run import run
from rushlight.errors import OperatorNotFound, RushlightError
from rushlight.program import operator_uses, read_program
from rushlight.runtime import Runtime
from rushlight.sources import source_root

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

# The modules of tests/interop/siblings, and how many cases each has at least.
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

# Cases that are refused, and a word of the reason.
REFUSED: dict[str, str] = {}

# Operators that the cases need and kernels/ops.yaml may not have: a program that asks for such a one must
# be refused by its name.
MISSING: set[str] = {
    "aten::grid_sampler_2d.out",
}


def outcome(model: Path, known: set[str], linked: set[str]) -> str:
    """ "" if every call gives what is expected, or "refused: ..." or what is wrong."""
    needed = set(operator_uses(read_program(model)))
    if needed & known - linked:
        return "refused: this build does not have " + ", ".join(sorted(needed & known - linked))
    try:
        ran = run(model, load_case(model.with_name("case.json")))
    except OperatorNotFound as error:
        assert set(error.requested) == needed - known
        return "refused: operators " + ", ".join(sorted(error.requested))
    except RushlightError as error:
        return f"refused: {error.message}"
    reasons = [call.comparison.reason for call in ran.calls if call.comparison]
    return "; ".join(f"call {index}: {reason}" for index, reason in enumerate(reasons) if reason)


@pytest.mark.parametrize("topic", TOPICS)
def test_fresh_programs_give_what_pytorch_gives(topic: str, tmp_path: Path) -> None:
    pytest.importorskip("executorch", reason="executorch, the official package, is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from official import write_case
    from siblings import CASES

    cases = {name: make for name, make in CASES.items() if name.startswith(topic + "/")}
    assert len(cases) >= TOPICS[topic]
    known = set(load_table(source_root() / "kernels" / "ops.yaml").operators)
    linked = Runtime.get().operator_registry.operator_names
    wrong = {}
    for name, make in cases.items():
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_case(name, make(), tmp_path / name)
        needed = set(operator_uses(read_program(tmp_path / name / "model.pte")))
        found = outcome(tmp_path / name / "model.pte", known, linked)
        if missing := needed - known:
            passes = missing <= MISSING and found == "refused: operators " + ", ".join(sorted(missing))
        elif name in REFUSED:
            passes = found.startswith("refused: ") and REFUSED[name] in found
        else:
            passes = not found
        if not passes:
            wrong[name] = found or "runs, but is in REFUSED"
    assert wrong == {}


def test_the_list_of_refused_cases_names_topics_that_exist() -> None:
    assert {name.partition("/")[0] for name in REFUSED} <= set(TOPICS)
