# SPDX-License-Identifier: BSD-3-Clause
"""Maps PyTorch's operators to rows of the operator table."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from torch._ops import OpOverload

from rushlight.codegen.schema import Argument, Schema, parse_schema
from rushlight.codegen.table import Operator, OperatorTable, load_table
from rushlight.errors import InvalidSelection
from rushlight.sources import source_root

# Arguments that the out tensor determines, or that a kernel ignores.
CREATION = frozenset({"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking"})
# Operators with the same arguments and result as another one.
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

# PyTorch's operators that a row computes with other arguments; the row's traits apply to them too.
_DECOMPOSED = {
    "aten::conv2d": "aten::convolution.out",
    "aten::max_pool2d": "aten::max_pool2d_with_indices.out",
    "aten::reshape": "aten::view_copy.out",
    "aten::flatten": "aten::view_copy.out",
    "quantized_decomposed::quantize_per_tensor": "quantized_decomposed::quantize_per_tensor.out",
    "quantized_decomposed::dequantize_per_tensor": "quantized_decomposed::dequantize_per_tensor.out",
}

# PyTorch's notation for a list whose items are views: Tensor(a -> *).
_ALIAS_OF_LIST = re.compile(r"\([a-z] ?-> ?\*\)")

_Key = tuple[str, tuple[tuple[str, str, bool, bool], ...]]


def _key(base: str, arguments: Iterable[Argument], without: frozenset[str]) -> _Key:
    kept = [a for a in arguments if not a.mutable and a.name not in without]
    return base, tuple((a.name, a.base.replace("SymInt", "int"), a.is_list, a.optional) for a in kept)


def _base(name: str) -> str:
    return name.partition(".")[0]


class OperatorLibrary:
    """The operators of a runtime, looked up by their functional, in-place or view form.

    Args:
        table: the rows of the operator table.
        label: the library's name in error messages.
        any_order: True if the kernels accept tensors in any dim order.
        whole: the complete library, with the rows that the runtime lacks; None if this is it.
        serve: returns a row for an operator that the table lacks, or None; see serving().
    """

    def __init__(
        self,
        table: OperatorTable,
        label: str = "rushlight's operator table",
        any_order: bool = True,
        whole: OperatorLibrary | None = None,
        serve: Callable[[OpOverload], Operator | None] | None = None,
    ) -> None:
        self.operators, self.label, self.any_order = table.operators, label, any_order
        self.whole = whole or self
        self._serve = serve
        self._served: dict[str, Operator] = {}
        self.table = table
        if serve is not None:
            self.table = replace(table, operators=ChainMap(self._served, dict(table.operators)))
        self._found: dict[OpOverload, str | None] = {}
        self._traits: dict[OpOverload, frozenset[str]] = {}

    @classmethod
    def default(cls) -> OperatorLibrary:
        """The library of all rows of rushlight's operator table."""
        return cls(load_table(source_root() / "kernels" / "ops.yaml"))

    def only(self, names: Iterable[str], label: str, any_order: bool = True) -> OperatorLibrary:
        """The library restricted to these names; any_order=False if its kernels do not accept every dim
        order."""
        rows = {name: self.operators[name] for name in names if name in self.operators}
        table = OperatorTable(self.table.path, rows)
        return OperatorLibrary(table, label, any_order and self.any_order, self.whole)

    def with_rows(self, rows: Iterable[Operator]) -> OperatorLibrary:
        """The library with additional rows."""
        added = {row.name: row for row in rows}
        whole = None if self.whole is self else self.whole.with_rows(added.values())
        return self._with({**self.operators, **added}, whole)

    def without(self, name: str, dtypes: Iterable[str] | None = None) -> OperatorLibrary:
        """The library without an operator, or without the given dtypes of it. Errors: KeyError for an unknown
        name."""
        rows = dict(self.operators)
        row = rows.pop(name)
        if dtypes is not None:
            rows[name] = replace(row, dtypes=row.dtypes - set(dtypes))
        return self._with(rows, self.whole)

    def serving(
        self, serve: Callable[[OpOverload], Operator | None], rows: Iterable[Operator]
    ) -> OperatorLibrary:
        """The library with `serve`, which makes a row for an operator that is left over: neither in the table
        nor decomposed. `rows` replace rows of the same names."""
        table = OperatorTable(self.table.path, {**self.operators, **{row.name: row for row in rows}})
        whole = None if self.whole is self else self.whole
        return OperatorLibrary(table, self.label, self.any_order, whole, serve)

    def _with(self, rows: dict[str, Operator], whole: OperatorLibrary | None) -> OperatorLibrary:
        table = OperatorTable(self.table.path, rows)
        return OperatorLibrary(table, self.label, self.any_order, whole, self._serve)

    @cached_property
    def _by_key(self) -> dict[_Key, str]:
        by_key: dict[_Key, str] = {}
        for without in (frozenset(), CREATION):  # exact matches first
            for name, row in self.operators.items():
                if any(argument.mutable for argument in row.schema.arguments):
                    by_key.setdefault(_key(_base(name), row.schema.arguments, without), name)
        return by_key

    def has_trait(self, row: str, trait: str) -> bool:
        """True if the row has the trait, one of codegen.table.TRAITS."""
        return row in self.operators and trait in self.operators[row].traits

    def traits(self, function: Any) -> frozenset[str]:
        """The traits of the row for `function`, even if the runtime lacks the row; empty if `function` is no
        operator or has no row."""
        if not isinstance(function, OpOverload):
            return frozenset()
        if function not in self._traits:
            row = self.whole.find(function) or _DECOMPOSED.get(function._schema.name, "")
            known = self.whole.operators
            self._traits[function] = known[row].traits if row in known else frozenset()
        return self._traits[function]

    def find(self, function: Any) -> str | None:
        """The name of the row that computes `function` (an OpOverload); None if there is no such row."""
        if not isinstance(function, OpOverload):
            return None
        if function not in self._found:
            self._found[function] = self._find(function)
        return self._found[function]

    def find_or_serve(self, function: OpOverload) -> str | None:
        """As find(), with the rows that `serve` makes."""
        row = self.find(function)
        made = None if row is not None or self._serve is None else self._serve(function)
        if made is None:
            return row
        self._served[made.name] = made
        return made.name

    def _find(self, function: OpOverload) -> str | None:
        schema = function._schema
        name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        if name in self.operators:
            return name
        try:
            arguments = parse_schema(_ALIAS_OF_LIST.sub("", str(schema))).arguments
        except InvalidSelection:
            return None  # it takes a type no program holds: Generator, Dimname
        base = schema.name
        plain = base.rstrip("_")
        unwritten = [_readable(argument) for argument in arguments]
        for candidate in (base, plain, f"{plain}_copy", _SAME.get(base, base)):
            for without in (frozenset(), CREATION):
                row = self._by_key.get(_key(candidate, unwritten, without))
                if row is not None:
                    return row
        return None

    def changes_sizes(self, function: Any) -> bool:
        """True if `function` copies a tensor's elements in the same order under other sizes."""
        return "view" in self.traits(function) and not function.is_view

    def schema(self, row: str) -> Schema:
        """The schema of a row."""
        return self.table.operators[row].schema

    def is_in_place(self, row: str) -> bool:
        """True if the row overwrites one of its inputs, as "aten::copy_" does, and has no out argument."""
        return _base(row).endswith("_")


def _readable(argument: Argument) -> Argument:
    """The argument as in the functional form, where the self of an in-place operator is read-only."""
    return Argument(
        argument.name, argument.base, False, argument.optional, argument.is_list, argument.optional_items
    )


def bind(
    schema: Schema, function: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of a row's arguments by name, without outs, for a call function(*args, **kwargs).

    Arguments that only the row has are None. Copies are never asynchronous.
    """
    own = function._schema.arguments
    values = {a.name: a.default_value for a in own if a.has_default_value()}
    values.update(zip((a.name for a in own), args, strict=False))
    values.update(kwargs)
    if "non_blocking" in values:
        values["non_blocking"] = False
    return {a.name: values.get(a.name) for a in schema.arguments if not a.mutable or a.name in values}
