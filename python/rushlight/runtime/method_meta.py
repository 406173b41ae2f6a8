# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of a program's methods without loading them: ExecuTorch's MethodMeta and TensorInfo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# PyTorch's C++ names of the element types, by code.
_CPP_NAMES = {
    0: "Byte",
    1: "Char",
    2: "Short",
    3: "Int",
    4: "Long",
    5: "Half",
    6: "Float",
    7: "Double",
    8: "ComplexHalf",
    9: "ComplexFloat",
    10: "ComplexDouble",
    11: "Bool",
    12: "QInt8",
    13: "QUInt8",
    14: "QInt32",
    15: "BFloat16",
    27: "UInt16",
    28: "UInt32",
    29: "UInt64",
}


class TensorInfo:
    """A tensor as described by the program; sizes are upper bounds if its shape is dynamic."""

    def __init__(self, described: tuple[int, tuple[int, ...], tuple[int, ...], int, bool, int]) -> None:
        self._dtype, self._sizes, self._dim_order, self._dynamism, self._planned, self._nbytes = described

    def sizes(self) -> tuple[int, ...]:
        return self._sizes

    def dtype(self) -> int:
        """The code of the element type, torch's ScalarType: 6 is float32."""
        return self._dtype

    def dim_order(self) -> tuple[int, ...]:
        """The dimensions from outermost to innermost in memory."""
        return self._dim_order

    def is_dynamic(self) -> bool:
        """True if sizes() are upper bounds."""
        return self._dynamism != 0

    def is_memory_planned(self) -> bool:
        """True if the program plans memory for it; an input without planned memory is used in place."""
        return self._planned

    def nbytes(self) -> int:
        """The size of its elements in bytes, at the largest shape."""
        return self._nbytes

    def __repr__(self) -> str:
        dtype = _CPP_NAMES.get(self._dtype, f"dtype {self._dtype}")
        return (
            f"TensorInfo(sizes={list(self._sizes)}, dtype={dtype}, "
            f"is_memory_planned={self._planned}, nbytes={self._nbytes})"
        )


@dataclass(frozen=True)
class MethodMemory:
    """The memory that a method needs in bytes, known before it is loaded.

    `method_arena_32` and `method_arena_64` are for machines with 32- and 64-bit pointers, without
    allocations of backends. `planned` lists the buffers in order, memory id 1 first.
    """

    method_arena_32: int
    method_arena_64: int
    planned: tuple[int, ...]


class MethodMeta:
    """A method's inputs, outputs and attributes. The names are ExecuTorch's.

    `facts` holds the same data as plain values, as returned by the native module.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    def name(self) -> str:
        return str(self.facts["name"])

    def num_inputs(self) -> int:
        return len(self.facts["inputs"])

    def num_outputs(self) -> int:
        return len(self.facts["outputs"])

    def num_attributes(self) -> int:
        """The number of parameters and buffers whose names the program stores."""
        return len(self.facts["attributes"])

    def input_tensor_meta(self, index: int) -> TensorInfo:
        """Raises IndexError if there is no such input, or it is not a tensor."""
        return self._tensor("inputs", "input", index)

    def output_tensor_meta(self, index: int) -> TensorInfo:
        """Raises IndexError if there is no such output, or it is not a tensor."""
        return self._tensor("outputs", "output", index)

    def attribute_tensor_meta(self, index: int) -> TensorInfo:
        """Raises IndexError if there is no such attribute."""
        return self._tensor("attributes", "attribute", index)

    def attribute_name(self, index: int) -> str:
        """Raises IndexError if there is no such attribute."""
        self._tensor("attributes", "attribute", index)
        return str(self.facts["attributes"][index][0])

    def input_kind(self, index: int) -> str:
        """ "Tensor", "Int", "Double", "Bool", "None", ..."""
        return str(self.facts["inputs"][index][0])

    def output_kind(self, index: int) -> str:
        return str(self.facts["outputs"][index][0])

    @property
    def operators(self) -> list[str]:
        """The operators that it calls, such as "aten::add.out"."""
        return list(self.facts["operators"])

    @property
    def backends(self) -> list[str]:
        """The backends that it delegates to."""
        return list(self.facts["backends"])

    @property
    def memory(self) -> MethodMemory:
        """The exact memory needs, for 32- and 64-bit machines."""
        facts = self.facts
        return MethodMemory(facts["arena_32"], facts["arena_64"], tuple(facts["planned"]))

    def _tensor(self, which: str, word: str, index: int) -> TensorInfo:
        entries = self.facts[which]
        if not 0 <= index < len(entries):
            raise IndexError(f"method '{self.name()}': expected {word} 0 to {len(entries) - 1}, got {index}")
        kind, tensor = entries[index]
        if tensor is None:
            raise IndexError(f"method '{self.name()}': {word} {index}: expected a tensor, got {kind}")
        return TensorInfo(tensor)

    def _listed(self, which: str) -> list[str]:
        return [kind if tensor is None else repr(TensorInfo(tensor)) for kind, tensor in self.facts[which]]

    def __repr__(self) -> str:
        return (
            f"MethodMeta(name='{self.name()}', num_inputs={self.num_inputs()}, "
            f"input_tensor_meta={self._listed('inputs')}, num_outputs={self.num_outputs()}, "
            f"output_tensor_meta={self._listed('outputs')})"
        )
