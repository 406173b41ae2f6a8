# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of tests with many cases alike, of which continuous integration takes some."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def sampled(
    cases: Iterable[T],
    step: int,
    *,
    name: Callable[[T], str] = str,
    always: Callable[[T], bool] = lambda case: False,
    marks: Callable[[T], list[pytest.MarkDecorator]] = lambda case: [],
) -> list[Any]:
    """A parameter for each case, and for a tuple its parts. Continuous integration takes each case of which
    `always` is true, and of all cases each one whose position is a multiple of `step`; the others are marked
    exhaustive. A step without a common divisor with the length of a row of the cases takes all columns. Cases
    also get the given marks."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            id=name(case),
            marks=marks(case) + ([] if position % step == 0 or always(case) else [pytest.mark.exhaustive]),
        )
        for position, case in enumerate(cases)
    ]
