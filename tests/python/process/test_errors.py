# SPDX-License-Identifier: BSD-3-Clause
"""Errors state what failed, and their exit codes tell them apart."""

from __future__ import annotations

import errno
import inspect
import json
import string

import pytest

from rushlight import errors
from rushlight.errors import FileFailed, MissingToolchain, OperatorNotFound, RushlightError, UnknownTarget


def test_exit_codes_are_distinct_and_not_those_of_shells() -> None:
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, RushlightError) and "exit_code" in vars(kind)]
    codes = [kind.exit_code for kind in kinds]
    assert len(kinds) > 12
    assert len(codes) == len(set(codes))
    assert all(code == 1 or 2 < code < 126 for code in codes)


ERRORS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RushlightError)
]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_each_error_states_its_meaning_in_one_sentence(kind: type[RushlightError]) -> None:
    meaning = (kind.__doc__ or "").partition("\n\n")[0]
    assert meaning.endswith(".") and ". " not in meaning and 15 < len(meaning) < 130, meaning


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_each_error_has_a_next_step(kind: type[RushlightError]) -> None:
    has_own = "next_step=" in inspect.getsource(kind.__init__) and "__init__" in vars(kind)
    step = kind.default_next_step
    assert step.endswith(".") and step[0] in string.ascii_uppercase + "`"
    own = next(each for each in kind.__mro__ if "default_next_step" in vars(each) or "__init__" in vars(each))
    assert has_own or own is not RushlightError or kind is RushlightError


def test_a_missing_operator_names_who_asked_and_what_is_near() -> None:
    error = OperatorNotFound(
        {"aten::adds.out": ["b.pte", "a.pte"], "my::thing": ["list"]},
        ["portable"],
        ["aten::add.out", "aten::mm.out"],
    )
    assert "aten::adds.out, asked for by a.pte, b.pte; did you mean aten::add.out?" in str(error)
    assert "my::thing, asked for by list" in str(error)
    assert "portable" in str(error)


def test_an_unknown_target_suggests_the_nearest() -> None:
    error = UnknownTarget("cortexm55", ["host", "cortex-m55"])
    assert "did you mean cortex-m55?" in str(error)


def test_a_missing_toolchain_says_what_to_install() -> None:
    error = MissingToolchain("cortex-m4", ["arm-none-eabi-g++"], ["gcc-arm-none-eabi"])
    assert "arm-none-eabi-g++" in str(error)
    assert "rushlight targets install cortex-m4" in error.next_step
    assert "gcc-arm-none-eabi" in error.next_step


def test_an_error_told_by_another_process_is_whole() -> None:
    error = OperatorNotFound.from_report("aten::nope.out is missing", next_step="Add it.")
    assert (str(error), error.message, error.next_step) == (
        "aten::nope.out is missing",
        "aten::nope.out is missing",
        "Add it.",
    )
    assert (error.requested, error.near) == ({}, {})


def test_an_error_is_the_same_after_it_crossed_as_data() -> None:
    asked = {"aten::nope.out": ["b.pte", "a.pte"]}
    for error in (
        OperatorNotFound(asked, ["portable"], ["aten::note.out"]),
        FileFailed("/some/where", "No space left on device", errno.ENOSPC),
        RushlightError("a line\n  and another", next_step="Do something."),
    ):
        other = RushlightError.from_data(json.loads(json.dumps(error.to_data())))
        assert type(other) is type(error) and vars(other) == vars(error)
        assert (str(other), other.exit_code) == (str(error), error.exit_code)


@pytest.mark.parametrize("kind", ["Nothing", "Iterable", "printable"])
def test_an_error_of_a_class_that_there_is_not_is_no_error(kind: str) -> None:
    with pytest.raises(ValueError, match=kind):
        RushlightError.from_data({"kind": kind, "message": "", "next_step": ""})
