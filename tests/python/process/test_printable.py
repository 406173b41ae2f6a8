# SPDX-License-Identifier: BSD-3-Clause
"""Foreign text is shown with its hidden characters as escapes."""

from __future__ import annotations

import pytest

from rushlight.errors import InvalidArgument
from rushlight.printable import escaped, one_line, printable

HIDDEN = [
    "\x00",
    "\x07",
    "\x1b",
    "\r",
    "\x7f",
    "\x85",
    "\x9b",
    "\xad",
    "\u061c",
    "\u200b",
    "\u200e",
    "\u202e",
]
HIDDEN += ["\u2028", "\u2029", "\u2066", "\u2069", "\ufeff", "\ufff9", "\ufffe", "\ud800", "\U000e0041"]


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
def test_a_hidden_character_is_shown_as_its_escape(character: str) -> None:
    shown = printable(f"a{character}b")
    assert shown.isascii() and shown.startswith("a\\") and shown.endswith("b")
    assert one_line(f"a{character}b") == shown
    assert character not in escaped(character) and character not in str(InvalidArgument(character))


def test_text_of_all_languages_stays() -> None:
    text = "naïve π 日本語 עברית العربية\u00a0\u3000🙂 \\x1b"
    assert printable(text) == text and one_line(text) == text


def test_lines_and_tabs_stay_in_text_and_are_escapes_in_a_name() -> None:
    assert printable("a\n\tb") == "a\n\tb"
    assert one_line("a\n\tb") == "a\\n\\tb"


def test_pages_get_no_markup_of_a_name() -> None:
    assert escaped("<b a='\"'>&\x1b") == "&lt;b a=&#x27;&quot;&#x27;&gt;&amp;\\x1b"


def test_the_next_step_and_the_source_of_an_error_are_printable() -> None:
    error = InvalidArgument("a", next_step="b\x1b")
    error.tell_source("c\u202e")
    assert error.next_step == "b\\x1b" and "c\\u202e" in str(error) and "\u202e" not in error.message
