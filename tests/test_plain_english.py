# SPDX-License-Identifier: BSD-3-Clause
"""Comments, docstrings, messages and pages are plain English, as far as patterns can tell: see
support/plain_english.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import plain_english

PYTHON = Path("python/rushlight/example.py")
CPP = Path("kernels/example.cpp")
PAGE = Path("docs/example.md")


def found(path: Path, source: str) -> list[str]:
    return [finding.text for finding in plain_english.findings(path, source)]


def test_no_file_has_a_finding() -> None:
    files = plain_english.tracked()
    assert len(files) > 2500
    found = [
        f for path in files for f in plain_english.findings(path, (plain_english.ROOT / path).read_text())
    ]
    assert not found, f"{len(found)} findings, such as\n" + "\n".join(map(str, found[:20]))


@pytest.mark.parametrize(
    "comment",
    [
        "// Whatever differs from 0 is one bool.",
        "// What else the sums of a tile become is done while they are\n// ready.",
        "int a;  // whether a pool has picked it",
        "// Sums rows. Of equal elements the first.",
        "// A pixel that is not there repeats the last.",
        'const char* a = "scratch memory: 12 bytes are not there";',
    ],
)
def test_cpp_that_is_not_plain_is_found(comment: str) -> None:
    assert len(found(CPP, comment + "\n")) == 1


@pytest.mark.parametrize(
    "source",
    [
        '"""Whether rows are contiguous."""\n',
        "a = 1  # what a caller gets\n",
        "# Whatever the padding, in\n# one pass.\n",
        'a = "compilers at hand: none"\n',
        'raise InvalidArgument("no end after 5 s")\n',
        'raise InvalidArgument(f"{a}: expected 1, got {b}.")\n',
    ],
)
def test_python_that_is_not_plain_is_found(source: str) -> None:
    assert len(found(PYTHON, source)) == 1


def test_prose_of_pages_is_read_and_code_is_not() -> None:
    assert found(PAGE, "# Page\n\nWhat is\nthere. A `that is there` b.\n") == ["What is there."]
    assert not found(PAGE, "```sh\nWhatever\n```\n<!-- written by a.py: b 0 -->\nOf it.\n<!-- end of b -->\n")
    assert found(PAGE, "- Of both.\n- Fine.\n") == ["Of both."]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (CPP, "// Max-unpooling: scatters each value to its recorded index.\n// What remains? Nothing.\n"),
        (CPP, "// The output may be computed in place.\n// SPDX-License-Identifier: BSD-3-Clause\n"),
        (CPP, 'const char* pattern = "what"; auto raw = R"(of all that is)";\n'),
        (PYTHON, '"""Returns whether rows are contiguous; errors: InvalidArgument."""\n'),
        (PYTHON, 'raise InvalidArgument(f"sizes: expected {a}, got {b}")\n'),
        (PAGE, "The answer is a list.\n\n- One.\n- Two.\n"),
    ],
)
def test_plain_english_passes(path: Path, source: str) -> None:
    assert not found(path, source)
