# SPDX-License-Identifier: BSD-3-Clause
"""Which row of the operator table computes what an operator of PyTorch computes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from torch._ops import OpOverload

from rushlight.codegen.schema import Argument, Schema, parse_schema
from rushlight.codegen.table import Operator, OperatorTable, load_table
from rushlight.errors import InvalidSelection
from rushlight.sources import source_root

# What the out tensor decides instead, and what a kernel has no use for.
_CREATION = frozenset({"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking"})
# Operators that another one computes, argument for argument.
_SAME = {
    "aten::_unsafe_view": "aten::view_copy",
    "aten::_reshape_copy": "aten::view_copy",
    "aten::_conj": "aten::_conj_copy",
    "rushlight_dim_order::_clone_dim_order": "dim_order_ops::_clone_dim_order",
    "rushlight_dim_order::_to_dim_order_copy": "dim_order_ops::_to_dim_order_copy",
    "rushlight_dim_order::_empty_dim_order": "dim_order_ops::_empty_dim_order",
    "rushlight_quantized::mixed_linear": "quantized_decomposed::mixed_linear",
    "rushlight_quantized::embedding_byte": "quantized_decomposed::embedding_byte",
    "rushlight_quantized::embedding_4bit": "quantized_decomposed::embedding_4bit",
}

# PyTorch's operators that a row computes with other arguments: what the row says of tensors is true of them.
_DECOMPOSED = {
    "aten::conv2d": "aten::convolution.out",
    "aten::max_pool2d": "aten::max_pool2d_with_indices.out",
    "aten::reshape": "aten::view_copy.out",
    "aten::flatten": "aten::view_copy.out",
    "quantized_decomposed::quantize_per_tensor": "quantized_decomposed::quantize_per_tensor.out",
    "quantized_decomposed::dequantize_per_tensor": "quantized_decomposed::dequantize_per_tensor.out",
}

# How PyTorch writes that the items of a list are views: Tensor(a -> *).
_ALIAS_OF_LIST = re.compile(r"\([a-z] ?-> ?\*\)")

_Key = tuple[str, tuple[tuple[str, str, bool, bool], ...]]


def _key(base: str, arguments: Iterable[Argument], without: frozenset[str]) -> _Key:
    kept = [a for a in arguments if not a.mutable and a.name not in without]
    return base, tuple((a.name, a.base.replace("SymInt", "int"), a.is_list, a.optional) for a in kept)


def _base(name: str) -> str:
    return name.partition(".")[0]


class OperatorLibrary:
    """The operators that a runtime has, found by the functional, in-place or view form of each.

    Args:
        table: its rows.
        label: what to call it in errors.
        any_order: whether its kernels take tensors in any dim order.
        whole: the library with the rows besides that the runtime lacks.
    """

    def __init__(
        self,
        table: OperatorTable,
        label: str = "rushlight's operator table",
        any_order: bool = True,
        whole: OperatorLibrary | None = None,
    ) -> None:
        self.table, self.operators, self.label, self.any_order = table, table.operators, label, any_order
        self.whole = whole or self
        self._found: dict[OpOverload, str | None] = {}
        self._traits: dict[OpOverload, frozenset[str]] = {}

    @classmethod
    def default(cls) -> OperatorLibrary:
        """All rows of rushlight's own table."""
        return cls(load_table(source_root() / "kernels" / "ops.yaml"))

    def only(self, names: Iterable[str], label: str, any_order: bool = True) -> OperatorLibrary:
        """The library with the operators of these names alone, perhaps of kernels that take fewer orders."""
        rows = {name: self.operators[name] for name in names if name in self.operators}
        table = OperatorTable(self.table.path, rows)
        return OperatorLibrary(table, label, any_order and self.any_order, self.whole)

    def with_rows(self, rows: Iterable[Operator]) -> OperatorLibrary:
        """The library with further rows."""
        added = {row.name: row for row in rows}
        whole = None if self.whole is self else self.whole.with_rows(added.values())
        return self._with({**self.operators, **added}, whole)

    def without(self, name: str, dtypes: Iterable[str] | None = None) -> OperatorLibrary:
        """The library without an operator, or without some of its dtypes."""
        rows = dict(self.operators)
        row = rows.pop(name)
        if dtypes is not None:
            rows[name] = replace(row, dtypes=row.dtypes - set(dtypes))
        return self._with(rows, self.whole)

    def _with(self, rows: dict[str, Operator], whole: OperatorLibrary | None) -> OperatorLibrary:
        return OperatorLibrary(OperatorTable(self.table.path, rows), self.label, self.any_order, whole)

    @cached_property
    def _by_key(self) -> dict[_Key, str]:
        by_key: dict[_Key, str] = {}
        for without in (frozenset(), _CREATION):  # the exact ones first
            for name, row in self.operators.items():
                if any(argument.mutable for argument in row.schema.arguments):
                    by_key.setdefault(_key(_base(name), row.schema.arguments, without), name)
        return by_key

    def has_trait(self, row: str, trait: str) -> bool:
        """Whether the row of that name has one of codegen.table.TRAITS."""
        return row in self.operators and trait in self.operators[row].traits

    def traits(self, function: Any) -> frozenset[str]:
        """The traits of the row that computes what `function` does, whether or not the runtime has it; none
        of what is no operator and of what has no row."""
        if not isinstance(function, OpOverload):
            return frozenset()
        if function not in self._traits:
            row = self.whole.find(function) or _DECOMPOSED.get(function._schema.name, "")
            known = self.whole.operators
            self._traits[function] = known[row].traits if row in known else frozenset()
        return self._traits[function]

    def find(self, function: Any) -> str | None:
        """The row that computes what `function` (an OpOverload) returns; None where there is none."""
        if not isinstance(function, OpOverload):
            return None
        if function not in self._found:
            self._found[function] = self._find(function)
        return self._found[function]

    def _find(self, function: OpOverload) -> str | None:
        schema = function._schema
        name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        if name in self.operators:
            return name
        try:
            arguments = parse_schema(_ALIAS_OF_LIST.sub("", str(schema))).arguments
        except InvalidSelection:
            return None  # takes what no program has: a Generator, a Dimname
        base = schema.name
        plain = base.rstrip("_")
        unwritten = [_readable(argument) for argument in arguments]
        for candidate in (base, plain, f"{plain}_copy", _SAME.get(base, base)):
            for without in (frozenset(), _CREATION):
                row = self._by_key.get(_key(candidate, unwritten, without))
                if row is not None:
                    return row
        return None

    def gives_other_sizes(self, function: Any) -> bool:
        """Whether `function` copies a tensor's elements, in the same order, under other sizes."""
        return "view" in self.traits(function) and not function.is_view

    def schema(self, row: str) -> Schema:
        """The schema of a row."""
        return self.operators[row].schema

    def is_in_place(self, row: str) -> bool:
        """Whether the row writes one of its inputs, as "aten::copy_" does, and has no out argument."""
        return _base(row).endswith("_")


def _readable(argument: Argument) -> Argument:
    """The argument as the functional form has it: an in-place operator's self is only read."""
    return Argument(
        argument.name, argument.base, False, argument.optional, argument.is_list, argument.optional_items
    )


def bind(
    schema: Schema, function: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of a row's arguments by name, outs left out, as `function` was called with them.

    What only the row has is None. Copies are never asynchronous.
    """
    own = function._schema.arguments
    values = {a.name: a.default_value for a in own if a.has_default_value()}
    values.update(zip((a.name for a in own), args, strict=False))
    values.update(kwargs)
    if "non_blocking" in values:
        values["non_blocking"] = False
    return {a.name: values.get(a.name) for a in schema.arguments if not a.mutable or a.name in values}
