# SPDX-License-Identifier: BSD-3-Clause
"""Operators without a kernel, as rows for programs that run with rushlight.load(..., fallback="aten"): their
out overloads in PyTorch's own schemas."""

from __future__ import annotations

import re

import torch
from torch._ops import OpOverload, OpOverloadPacket

from rushlight.codegen.schema import Argument, Schema, parse_schema
from rushlight.codegen.table import Operator
from rushlight.errors import InvalidSelection
from rushlight.export.frontend.operators import CREATION
from rushlight.program.dtypes import NUMBERS

ALL_DTYPES = frozenset(NUMBERS)

_RESULT = re.compile(r"(Tensor(?:\[\])?)(?: \w+)?")  # with the name of a named tuple's field


def served_row(function: OpOverload) -> Operator | None:
    """The row of an operator that PyTorch computes. Without an out overload in PyTorch, one is named by
    PyTorch's rule ("out" for the default overload, "x_out" for "x"), which the runtime computes by the
    functional overload. None for an operator whose arguments or results no program has."""
    packet = function.overloadpacket
    try:
        plain = parse_schema(_without_aliases(str(function._schema)))
        schema = _out_overload(packet, plain) or _named_out(packet, function, plain)
    except InvalidSelection:
        return None
    if schema is None or any(each.is_list and each.base in ("Scalar", "str") for each in schema.arguments):
        return None
    return Operator(schema, schema.base_name, ALL_DTYPES, "")


def is_served(row: Operator) -> bool:
    """True if PyTorch has the overload that the row is named after."""
    namespace, _, rest = row.name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return isinstance(packet, OpOverloadPacket) and (overload or "default") in packet.overloads()


def _without_aliases(text: str) -> str:
    return re.sub(r"\([a-z](?: ?-> ?\*)?\)", "", text)


def _out_overload(packet: OpOverloadPacket, plain: Schema) -> Schema | None:
    """PyTorch's out overload with the same arguments, or without arguments that its out tensor determines."""
    overloads = [getattr(packet, name)._schema for name in packet.overloads()]
    outs = [
        parse_schema(str(each)) for each in overloads if any(argument.is_out for argument in each.arguments)
    ]
    for without in (frozenset[str](), CREATION):
        wanted = _read(plain, without)
        for schema in outs:
            if _read(schema, without) == wanted:
                return schema
    return None


def _read(schema: Schema, without: frozenset[str]) -> list[Argument]:
    return [each for each in schema.arguments if not each.mutable and each.name not in without]


def _named_out(packet: OpOverloadPacket, function: OpOverload, plain: Schema) -> Schema | None:
    """The schema of an out overload that PyTorch lacks."""
    overload = "out" if function._overloadname == "default" else f"{function._overloadname}_out"
    if overload in packet.overloads() or any(argument.mutable for argument in plain.arguments):
        return None
    head, _, results = plain.text.rpartition(" -> ")
    given = head[head.index("(") + 1 : -1]
    found = [_RESULT.fullmatch(result.strip()) for result in results.strip("()").split(",")]
    kinds = [match[1] for match in found if match]
    if len(kinds) < len(found):
        return None
    letters = [f"{kind.replace('Tensor', f'Tensor({chr(97 + i)}!)')} out{i}" for i, kind in enumerate(kinds)]
    parts = [given] if given else []
    parts += [] if "*" in given else ["*"]
    returned = ", ".join(f"Tensor({chr(97 + i)}!)" for i in range(len(kinds)))
    base = plain.name.partition(".")[0]
    return parse_schema(f"{base}.{overload}({', '.join([*parts, *letters])}) -> ({returned})")
