# SPDX-License-Identifier: BSD-3-Clause
"""Finds the row of the operator table that computes an ATen call."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from rushlight.codegen.table import OperatorTable, load_table

_TABLE = Path(__file__).parents[3] / "kernels" / "ops.yaml"
# Arguments that the out tensor decides instead, and arguments that a kernel ignores.
_CREATION = {"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking"}

_Key = tuple[str, tuple[tuple[str, str], ...]]


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _key(base: str, schema: Any, without: set[str]) -> _Key:
    arguments = [a for a in schema.arguments if not a.is_out and a.name not in without]
    return base, tuple((a.name, str(a.type).replace("SymInt", "int")) for a in arguments)


def _base(name: str) -> str:
    return name.removeprefix("aten::").partition(".")[0]


@functools.cache
def _table() -> OperatorTable:
    return load_table(_TABLE)


class Rows:
    """The `aten::` operators of a table, found by their functional, in-place or view forms.

    Args:
        names: full names of out overloads ("aten::add.out"), or of in-place ones ("aten::copy_").
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.overloads: dict[str, Any] = {}
        self._by_key: dict[_Key, str] = {}
        for name in names:
            namespace, _, rest = name.partition("::")
            if namespace != "aten":
                continue
            base, _, overload = rest.partition(".")
            function = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
            if function is None:
                continue  # a spelling for scalars that only this table uses
            self.overloads[name] = function
        for without in (set(), _CREATION):  # exact matches first
            for name, function in self.overloads.items():
                if any(argument.is_out for argument in function._schema.arguments):
                    self._by_key.setdefault(_key(_base(name), function._schema, without), name)

    def traits(self, row: str) -> frozenset[str]:
        """The traits of the row in the operator table, see rushlight.codegen.table.TRAITS, and PyTorch's tag
        of the same meaning."""
        tagged = {"pointwise"} if torch.Tag.pointwise in self.overloads[row].tags else set()
        return _table().operators[row].traits | tagged

    def find(self, function: Any) -> str | None:
        """The row that computes the results of `function` (an OpOverload); None if there is none."""
        schema = function._schema
        name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        if name in self.overloads:
            return name
        base = schema.name.removeprefix("aten::")
        plain = base.rstrip("_")
        for candidate in (base, plain, f"{plain}_copy"):
            for without in (set(), _CREATION):
                row = self._by_key.get(_key(candidate, schema, without))
                if row is not None:
                    return row
        return None

    def bind(
        self, row: str, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The arguments of `row`, without its outs, by name: as `function` was called."""
        given = dict(zip((a.name for a in function._schema.arguments), args, strict=False)) | dict(kwargs)
        defaults = {a.name: a.default_value for a in function._schema.arguments if a.has_default_value()}
        values = defaults | given
        bound = {}
        for argument in self.overloads[row]._schema.arguments:
            if not argument.is_out:
                # An argument that only the out overload has keeps its default.
                bound[argument.name] = values.get(
                    argument.name, argument.default_value if argument.has_default_value() else None
                )
        return bound

    def written_inputs(self, row: str) -> list[str]:
        """The names of arguments that an in-place row writes; empty for an out overload."""
        return [a.name for a in self.overloads[row]._schema.arguments if _is_written(a) and not a.is_out]

    def has_outs(self, row: str) -> bool:
        """True if the row is an out overload, even if it also writes inputs; otherwise it works in place."""
        return any(a.is_out for a in self.overloads[row]._schema.arguments)
