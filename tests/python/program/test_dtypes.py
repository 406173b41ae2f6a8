# SPDX-License-Identifier: BSD-3-Clause
"""Promotion of element types, against PyTorch's table."""

from __future__ import annotations

import itertools

import pytest

from rushlight.program.dtypes import (
    NUMBERS,
    SIGNED,
    UNSIGNED_WIDE,
    element_size,
    mask,
    promote,
    promotion_closure,
)

COMPUTING = [name for name, number in NUMBERS.items() if number in (*range(12), 15)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("uint8", "int8", "int16"),
        ("int64", "float16", "float16"),
        ("float16", "bfloat16", "float32"),
        ("bool", "uint8", "uint8"),
        ("float64", "complex64", "complex128"),
        ("bfloat16", "complex32", "complex64"),
        ("int64", "complex32", "complex32"),
        ("uint16", "float32", "float32"),
    ],
)
def test_pairs_promote_as_in_pytorch(a: str, b: str, expected: str) -> None:
    assert promote(a, b) == promote(b, a) == expected


def test_every_pair_promotes_as_torch_says() -> None:
    torch = pytest.importorskip("torch", reason="needs torch to compare with")
    for a, b in itertools.product(COMPUTING, repeat=2):
        expected = str(torch.promote_types(getattr(torch, a), getattr(torch, b)))
        assert f"torch.{promote(a, b)}" == expected, (a, b)


def test_pairs_that_torch_refuses_give_the_wider_or_the_signed_one() -> None:
    """As runtime/tensor/scalar_type.cpp has it: a selection needs the dtype that kernels compute in."""
    for unsigned, signed in itertools.product(sorted(UNSIGNED_WIDE), sorted(SIGNED)):
        narrower = element_size(signed) < element_size(unsigned)
        expected = unsigned if narrower else signed
        assert promote(unsigned, signed) == promote(signed, unsigned) == expected, (unsigned, signed)


def test_a_closure_holds_what_its_members_promote_to() -> None:
    assert promotion_closure({"uint8", "int8"}) == {"uint8", "int8", "int16"}
    assert promotion_closure({"float16", "bfloat16"}) == {"float16", "bfloat16", "float32"}
    for pair in itertools.combinations(NUMBERS, 2):
        closed = promotion_closure(pair)
        assert all(promote(a, b) in closed for a, b in itertools.product(closed, repeat=2))


def test_a_mask_has_the_bits_of_the_numbers() -> None:
    assert mask({"uint8", "float32", "bool"}) == 1 | 1 << 6 | 1 << 11
