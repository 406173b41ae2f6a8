# SPDX-License-Identifier: BSD-3-Clause
"""A bundled program is held to its own expectations from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.program.bundled import BundledTensor, read_bundled_program

pytestmark = pytest.mark.heavy

BUNDLE = Path(__file__).parents[2] / "interop" / "bundled" / "model.bpte"


def test_a_bundled_program_agrees_with_itself() -> None:
    outcome = rushlight.verify_bundled_program(BUNDLE)
    assert outcome.passed and len(outcome.calls) == 3
    assert outcome.max_error is not None and outcome.max_error < 1e-5


def test_an_expected_value_that_is_off_is_seen(tmp_path: Path) -> None:
    data = BUNDLE.read_bytes()
    suite = next(s for s in read_bundled_program(data).suites if s.cases)
    expected = next(value for value in suite.cases[0].outputs if isinstance(value, BundledTensor))
    content = bytes(expected.data)
    assert data.count(content) == 1
    changed = np.frombuffer(content, np.float32).copy()
    changed[-1] += 1
    (tmp_path / "changed.bpte").write_bytes(data.replace(content, changed.tobytes()))
    outcome = rushlight.verify_bundled_program(tmp_path / "changed.bpte")
    assert not outcome.passed
    assert [call.comparison.passed for call in outcome.calls if call.comparison].count(False) == 1


def test_a_method_without_cases_is_named() -> None:
    with pytest.raises(InvalidArgument, match="backward"):
        rushlight.verify_bundled_program(BUNDLE, "backward")
