# SPDX-License-Identifier: BSD-3-Clause
"""Element types: PyTorch's ScalarType integers, names and sizes, and type promotion."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

NAMES: dict[int, str] = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    8: "complex32",
    9: "complex64",
    10: "complex128",
    11: "bool",
    12: "qint8",
    13: "quint8",
    14: "qint32",
    15: "bfloat16",
    16: "quint4x2",
    17: "quint2x4",
    18: "bits1x8",
    19: "bits2x4",
    20: "bits4x2",
    21: "bits8",
    22: "bits16",
    23: "float8_e5m2",
    24: "float8_e4m3fn",
    25: "float8_e5m2fnuz",
    26: "float8_e4m3fnuz",
    27: "uint16",
    28: "uint32",
    29: "uint64",
}
NUMBERS: dict[str, int] = {name: number for number, name in NAMES.items()}

# C's and PyTorch's aliases.
_OTHER_NAMES = {
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}

_SIZES = {
    **dict.fromkeys(("int16", "float16", "bfloat16", "uint16", "bits16"), 2),
    **dict.fromkeys(("int32", "float32", "complex32", "qint32", "uint32"), 4),
    **dict.fromkeys(("int64", "float64", "complex64", "uint64"), 8),
    "complex128": 16,
}

SIGNED = frozenset({"int8", "int16", "int32", "int64"})
UNSIGNED_WIDE = frozenset({"uint16", "uint32", "uint64"})
INTEGRAL = SIGNED | UNSIGNED_WIDE | {"uint8"}
FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})
COMPLEX = frozenset({"complex32", "complex64", "complex128"})

_REAL_PART = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_WITH_PART = {part: name for name, part in _REAL_PART.items()}


def named(text: str) -> str | None:
    """The dtype called `text` ("float32", "float"); None if there is none."""
    name = _OTHER_NAMES.get(text, text)
    return name if name in NUMBERS else None


def element_size(dtype: str) -> int:
    """The bytes of one element; packed types (such as quint4x2) are stored in bytes."""
    return _SIZES.get(dtype, 1)


def real_part(dtype: str) -> str:
    """The dtype of a complex type's parts; other dtypes unchanged."""
    return _REAL_PART.get(dtype, dtype)


def promote(a: str, b: str) -> str:
    """The common dtype in which tensors of dtypes `a` and `b` are computed.

    As torch.promote_types, which refuses some pairs (uint16 and a signed integer): for those, the wider
    type. Types without arithmetic (quantized, bits, float8) give `a`.
    """
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    for kind in (COMPLEX, FLOATING, INTEGRAL):
        if a in kind or b in kind:
            break
    else:
        return a
    if kind is COMPLEX:
        return _promote_complex(a, b)
    if (a in kind) != (b in kind):
        return a if a in kind else b
    if element_size(a) != element_size(b):
        return a if element_size(a) > element_size(b) else b
    if kind is FLOATING:
        return "float32"
    if element_size(a) == 1:
        return "int16"
    return b if a in UNSIGNED_WIDE else a


def _promote_complex(a: str, b: str) -> str:
    parts = [real_part(name) for name in (a, b)]
    part = promote(*parts)
    return _WITH_PART.get(part, "complex64")


def promotion_closure(dtypes: Iterable[str]) -> frozenset[str]:
    """The set extended by every dtype to which its members promote, in any number."""
    closed = set(dtypes)
    while True:
        new = {promote(a, b) for a, b in combinations(sorted(closed), 2)} - closed
        if not new:
            return frozenset(closed)
        closed |= new


def mask(dtypes: Iterable[str]) -> int:
    """The set as a bit mask over ScalarType integers."""
    return sum(1 << NUMBERS[name] for name in set(dtypes))
