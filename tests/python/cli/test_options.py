# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share."""

from __future__ import annotations

import pytest

from rushlight.cli.options import parse_defines
from rushlight.errors import InvalidArgument


def test_defines_are_names_with_values_whatever_type_cmake_is_told() -> None:
    words = ["A=1", "B:STRING=x=y", "C:BOOL=", "A=2"]
    assert parse_defines(words) == {"A": "2", "B": "x=y", "C": ""}


@pytest.mark.parametrize("word", ["A", "=1", ""])
def test_a_define_without_a_name_or_a_value_is_refused(word: str) -> None:
    with pytest.raises(InvalidArgument, match="expected NAME=VALUE"):
        parse_defines([word])
