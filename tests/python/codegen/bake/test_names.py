# SPDX-License-Identifier: BSD-3-Clause
"""Names and literals for C++, of whatever a program holds."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight import process
from rushlight.codegen.bake import literals
from rushlight.codegen.bake.names import identifier, pascal, unique

HOSTILE = [
    '"; system("x"); //',
    "*/ int x; /*",
    "a\\\nint y;",
    "??/\nint z;",
    "\x00\x07é",
    'R"x(y)x"',
    "%s\\",
]


@given(st.text())
def test_an_identifier_is_one(text: str) -> None:
    name = identifier(text)
    assert name.isascii() and name.isidentifier()
    assert "__" not in name and not name.startswith("_") and name not in ("class", "int", "std", "rushlight")


@pytest.mark.parametrize("text", ["class", "int", "main", "std", "rushlight", "", "_", "2d", "a-b", "über"])
def test_what_is_taken_gets_another_name(text: str) -> None:
    assert identifier(text) != text


_ENDS = ["", "_reset", "_method", "_baked", "_input0", "_output12", "_arena1"]
_CONSTANT_ENDS = ["", "Input0", "Arena1Bytes", "PlannedBytes", "TemporaryBytes"]


@given(
    st.lists(st.sampled_from(["f", "F", "forward", "forward_reset", "f_input0", "forward2", "a b", "a_b"]))
)
def test_names_made_of_names_stay_apart(texts: list[str]) -> None:
    names = unique(texts)
    made = [name + end for name in names for end in _ENDS]
    made += [f"k{pascal(name)}{end}" for name in names for end in _CONSTANT_ENDS]
    assert len(set(made)) == len(made)


def test_methods_keep_their_names_where_they_can() -> None:
    assert unique(["forward", "f", "encode", "enc"]) == ["forward", "f", "encode", "enc"]


@given(st.text())
def test_a_comment_stays_on_its_line(text: str) -> None:
    shown = literals.comment(text)
    assert shown.isascii() and shown.isprintable() and "\\" not in shown and "?" not in shown


def test_literals_have_the_bits_of_the_values(tmp_path: Path) -> None:
    doubles = [0.0, -0.0, 0.1, 1e-320, 1.7976931348623157e308, math.inf, -math.inf, -1.5, 1e16]
    doubles += [
        struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8000000000001, 0xFFF8 << 48)
    ]
    integers = [0, -1, 2**63 - 1, -(2**63), 1 << 40]
    bits = [struct.unpack("<Q", struct.pack("<d", value))[0] for value in doubles]
    lines = ["#include <cstdint>", "#include <cstring>", "#include <string_view>", "int main() {"]
    for value, expected in zip(doubles, bits, strict=True):
        lines.append(f"{{ double d = {literals.double(value)}; uint64_t b; std::memcpy(&b, &d, 8);")
        lines.append(f"if (b != {expected}u) return 1; }}")
    for value in integers:
        words = value & (2**64 - 1)
        lines.append(f"if (static_cast<uint64_t>({literals.integer(value)}) != {words}u) return 2;")
    for text in HOSTILE:
        data = text.encode()
        lines.append(f"// {literals.comment(text)}")
        lines.append(f"{{ std::string_view s({literals.string(text)}, {len(data)});")
        lines.append(f"const unsigned char want[] = {{{', '.join(map(str, data))}}};")
        lines.append(f"if (std::memcmp(s.data(), want, {len(data)}) != 0) return 3; }}")
    source = tmp_path / "literals.cpp"
    source.write_text("\n".join([*lines, "}", ""]))
    process.run(["c++", "-std=c++17", "-Wall", "-Werror", source, "-o", tmp_path / "literals"], check=True)
    assert process.run([tmp_path / "literals"]).returncode == 0
