# SPDX-License-Identifier: BSD-3-Clause
"""Which of many cases continuous integration takes."""

from __future__ import annotations

import pytest

from support.samples import sampled


def taken(params: list) -> list[str]:
    return [param.id for param in params if not param.marks]


def test_each_case_is_a_parameter_and_the_others_are_exhaustive() -> None:
    params = sampled("abcdefg", 3)
    assert [param.values for param in params] == [(letter,) for letter in "abcdefg"]
    assert taken(params) == ["a", "d", "g"]
    assert {mark.name for param in params for mark in param.marks} == {"exhaustive"}


def test_parts_of_tuples_are_arguments_and_some_cases_are_always_taken() -> None:
    params = sampled(
        [("a", 1), ("b", 2), ("c", 3)], 5, name=lambda case: case[0], always=lambda case: case[1] == 3
    )
    assert [param.values for param in params] == [("a", 1), ("b", 2), ("c", 3)]
    assert taken(params) == ["a", "c"]


def test_cases_get_other_marks_too() -> None:
    params = sampled(["a", "b"], 2, marks=lambda case: [pytest.mark.slow] if case == "b" else [])
    assert [[mark.name for mark in param.marks] for param in params] == [[], ["slow", "exhaustive"]]
