# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a method's arena, in order, and the size of an element of each.

Python computes arena sizes from this table (memory.py); C++ lays arenas out with a header generated from
it. The executor, which defines the element types, asserts their sizes. On 32-bit machines a method that
computes with tensors only is compact (runtime/program/layout.h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

COMPACT_POINTER = 4
"""Bytes of a pointer on machines with compact methods."""


@dataclass(frozen=True)
class ArenaPart:
    """One part of the arena. An element takes `pointers` pointers plus `bytes` bytes. The part is aligned to
    8 if it is `wide` (it holds a value or an int64), else to the smaller of the element's and a pointer's
    size. `only` restricts it to one form of a method."""

    name: str
    pointers: int
    bytes: int
    comment: str = ""
    wide: bool = False
    only: Literal["", "kept", "compact"] = ""

    def size(self, pointer: int) -> int:
        """The bytes of one element, with pointers of `pointer` bytes."""
        return self.pointers * pointer + self.bytes

    def alignment(self, pointer: int) -> int:
        """The alignment of the part's start in bytes."""
        return 8 if self.wide else min(self.size(pointer), pointer)


PARTS = (
    ArenaPart("Values", 0, 16, "only if the method is not compact", wide=True, only="kept"),
    ArenaPart("Ends", 0, 16, "inputs and outputs, only if compact", wide=True, only="compact"),
    ArenaPart("Made", 0, 16, "one for each argument of the longest call", wide=True),
    ArenaPart("Tensors", 7, 0, "all"),
    ArenaPart("TensorRanks", 0, 8, "one per 32 values"),
    # Lists and their items: the maximum that one call names.
    ArenaPart("IntLists", 2, 0),
    ArenaPart("IntListItems", 0, 8, wide=True),
    ArenaPart("TensorLists", 2, 0),
    ArenaPart("TensorListItems", 1, 0),
    ArenaPart("OptionalTensorLists", 2, 0),
    ArenaPart("OptionalTensorListItems", 2, 0),
    ArenaPart("Kernels", 1, 0, "one per operator"),
    ArenaPart("Delegates", 6, 0),
    ArenaPart("CompileSpecs", 3, 0, "of all delegates"),
    ArenaPart("ExternalData", 4, 0, "tensors with data outside the program"),
    ArenaPart("Arguments", 1, 0, "the maximum of one call"),
    ArenaPart("Strides", 0, 4, "of all tensors, one per dimension"),
    ArenaPart("Sizes", 0, 4, "of tensors with dynamic sizes"),
)
