# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a method's arena, in their order, and the bytes that an element of each takes.

Python sizes arenas by this table (memory.py), C++ lays them out by the header that is generated from it. The
executor, which has the types of the elements, asserts that they have these sizes. On 32-bit machines a method
that computes with tensors only is compact (runtime/program/layout.h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

COMPACT_POINTER = 4
"""Bytes of a pointer on machines that have compact methods."""


@dataclass(frozen=True)
class ArenaPart:
    """A part; one element takes so many pointers and bytes. It is aligned to 8 if it is `wide`, a value or an
    int64, and else to the smaller of its size and a pointer's. `only` is the one form
    of a method that has the part."""

    name: str
    pointers: int
    bytes: int
    comment: str = ""
    wide: bool = False
    only: Literal["", "kept", "compact"] = ""

    def size(self, pointer: int) -> int:
        """Bytes of one element, where pointers have `pointer` bytes."""
        return self.pointers * pointer + self.bytes

    def alignment(self, pointer: int) -> int:
        """What the part's start is a multiple of."""
        return 8 if self.wide else min(self.size(pointer), pointer)


PARTS = (
    ArenaPart("Values", 0, 16, "of a method that is not compact", wide=True, only="kept"),
    ArenaPart("Ends", 0, 16, "inputs and outputs, of a compact one", wide=True, only="compact"),
    ArenaPart("Made", 0, 16, "as many as the longest call has arguments", wide=True),
    ArenaPart("Tensors", 7, 0, "all"),
    ArenaPart("TensorRanks", 0, 8, "one for 32 values"),
    # Lists and their items: the most that any call names.
    ArenaPart("IntLists", 2, 0),
    ArenaPart("IntListItems", 0, 8, wide=True),
    ArenaPart("TensorLists", 2, 0),
    ArenaPart("TensorListItems", 1, 0),
    ArenaPart("OptionalTensorLists", 2, 0),
    ArenaPart("OptionalTensorListItems", 2, 0),
    ArenaPart("Kernels", 1, 0, "one for each operator"),
    ArenaPart("Delegates", 6, 0),
    ArenaPart("CompileSpecs", 3, 0, "of all delegates"),
    ArenaPart("ExternalData", 4, 0, "tensors whose data lies outside the program"),
    ArenaPart("Arguments", 1, 0, "as many as the longest call has"),
    ArenaPart("Strides", 0, 4, "of all tensors, one a dimension"),
    ArenaPart("Sizes", 0, 4, "of tensors whose sizes change"),
)
