# SPDX-License-Identifier: BSD-3-Clause
"""A bundled program is held to its own expectations from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import rushlight
from rushlight.errors import InvalidArgument

BUNDLE = Path(__file__).parents[2] / "interop" / "bundled" / "model.bpte"


def test_a_bundled_program_agrees_with_itself() -> None:
    outcome = rushlight.verify_bundled_program(BUNDLE)
    assert outcome.passed and len(outcome.calls) == 3
    assert outcome.max_error is not None and outcome.max_error < 1e-5


def test_no_tolerance_can_be_below_nothing() -> None:
    """The comparison can fail: an expected value that is off by one is seen."""
    assert not rushlight.verify_bundled_program(BUNDLE, rtol=0, atol=-1).passed


def test_a_method_without_cases_is_named() -> None:
    with pytest.raises(InvalidArgument, match="backward"):
        rushlight.verify_bundled_program(BUNDLE, "backward")
