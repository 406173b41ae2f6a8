# SPDX-License-Identifier: BSD-3-Clause
"""Programs that no exporter writes and that pass every structural check: any operator on values of the kinds
in its schema, tensors that overlap, change shape or lack memory, moves and loops."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

from rushlight.codegen.schema import Argument, Schema
from rushlight.codegen.table import load_table
from rushlight.runtime import Runtime
from rushlight.sources import source_root
from support.programs import Build, Plan, jump_false, move, program, scalar, table, tensor, value, vector

RARE = ["int32", "int8", "uint8", "bool", "float16", "bfloat16", "float64", "complex64"]
DTYPES = ["float32"] * 14 + ["int64"] * 3 + RARE
INTS = [-1, 0, 1, 2, 3, 1, 2, -2, 4, 7, 15, 127, 1 << 31, (1 << 63) - 1, -(1 << 63)]
FLOATS = [0.0, 1.0, -1.5, 2.0, 1e300, float("inf"), float("nan")]
STRINGS = ["none", "tanh", "floor", "trunc", "mean", ""]
BUFFER = 4096
KINDS = {"Scalar": "number", "float": "number", "bool": "bool", "str": "string", "Tensor": "tensor"}


@cache
def schemas() -> list[Schema]:
    """The schemas of the linked operators, in order of their names."""
    operators = load_table(source_root() / "kernels" / "ops.yaml").operators
    names = Runtime.get().operator_registry.operator_names
    return [operators[name].schema for name in sorted(names & operators.keys())]


class Writer:
    """Writes one program from random choices."""

    def __init__(self, choose: random.Random) -> None:
        self._choose = choose
        self._plan = Plan(buffer_sizes=[0, BUFFER])
        self._by_kind: dict[str, list[int]] = {}
        sizes = (0, 1, 1, 2, 2, 3, 3, 4, 5)
        self._shape = [choose.choice(sizes) for _ in range(choose.choice((0, 1, 2, 2, 3, 4, 4)))]

    def write(self) -> bytes:
        choose = self._choose
        for _ in range(choose.randint(3, 8)):
            self._add("tensor", self._tensor())
        for rank in range(6):
            self._add("out", self._out(rank))
        self._by_kind["tensor"] += choose.sample(self._by_kind["out"], 2)
        for item in (*choose.sample(INTS, 6), *choose.sample(FLOATS, 2), True, False, None):
            kind = {bool: "bool", int: "int", float: "float", type(None): "none"}[type(item)]
            self._add(kind, scalar(item))
        text = choose.choice(STRINGS)
        self._add("string", value(6, lambda b: table(b, 1, {0: ("Offset", b.CreateString(text))})))
        for _ in range(3):
            self._add_lists()
        schemas_used = [choose.choice(schemas()) for _ in range(choose.randint(1, 4))]
        self._plan.operators = [_name(schema) for schema in schemas_used]
        for _ in range(choose.randint(1, 6)):
            self._plan.calls.append(self._instruction(schemas_used))
        tensors = self._by_kind["tensor"]
        self._plan.inputs = choose.sample(tensors, choose.randint(0, 2))
        self._plan.outputs = choose.choices(tensors, k=choose.randint(0, 2))
        return program(self._plan)

    def _add(self, kind: str, build: Build) -> int:
        self._plan.values.append(build)
        index = len(self._plan.values) - 1
        self._by_kind.setdefault(kind, []).append(index)
        return index

    def _tensor(self) -> Build:
        choose = self._choose
        shape = list(self._shape)
        change = choose.random()
        if change < 0.25 and shape:
            shape[choose.randrange(len(shape))] = choose.choice((0, 1, 2, 6))
        elif change < 0.4:
            shape = shape[1:] if choose.random() < 0.5 else [*shape, choose.choice((1, 2, 3))]
        elif change < 0.5:
            choose.shuffle(shape)
        order = list(range(len(shape)))
        if choose.random() < 0.15:
            choose.shuffle(order)
        return tensor(
            choose.choice(DTYPES),
            shape,
            memory_id=int(choose.random() < 0.85),
            offset=choose.choice((0, 0, 16, 64, 256, 1024, BUFFER - 1024)),
            dim_order=order,
            dynamic=choose.random() < 0.5,
        )

    def _out(self, rank: int) -> Build:
        """A tensor that most results fit into: dynamic, with at least 120 elements unless its rank is 0."""
        dtype = self._choose.choice([*["float32"] * 6, "bool", "bool", "int64", *RARE])
        return tensor(dtype, [120, *[1] * (rank - 1)] if rank else [], offset=1024 * (rank % 3), dynamic=True)

    def _add_lists(self) -> None:
        choose, kinds = self._choose, self._by_kind
        ints = choose.choices(kinds["int"], k=choose.choice((0, 1, 1, 2, 2, 3, 4, 5)))
        tensors = choose.choices(kinds["tensor"], k=choose.randint(0, 4))
        optional = [index if choose.random() < 0.7 else -1 for index in tensors]
        flags = [choose.randint(0, 1) for _ in range(choose.randint(0, 4))]
        self._add("int list", _list(7, "Int64", 8, ints))
        self._add("float list", _list(8, "Float64", 8, choose.choices(FLOATS, k=len(flags))))
        self._add("bool list", _list(9, "Uint8", 1, flags))
        self._add("tensor list", _list(10, "Int32", 4, tensors))
        self._add("optional tensor list", _list(11, "Int32", 4, optional))

    def _instruction(self, used: list[Schema]) -> tuple[int, list[int]] | Build:
        choose = self._choose
        kind = choose.random()
        if kind < 0.85:
            at = choose.randrange(len(used))
            return at, [self._argument(argument) for argument in used[at].arguments]
        if kind < 0.95:
            name = choose.choice(["tensor", "tensor", "tensor", "tensor list", "int", "int list"])
            return move(*choose.choices(self._by_kind[name], k=2))
        condition = choose.choice([*self._by_kind["bool"], *self._by_kind["tensor"], *self._by_kind["int"]])
        return jump_false(condition, choose.choice((0, 1, 1, 2, 2, 3)))

    def _argument(self, argument: Argument) -> int:
        choose = self._choose
        if choose.random() < 0.01:
            return choose.randrange(len(self._plan.values))
        if argument.optional and choose.random() < 0.5:
            return self._by_kind["none"][0]
        if argument.base == "Tensor" and argument.mutable and not argument.is_list and choose.random() < 0.8:
            return choose.choice(self._by_kind["out"])
        return choose.choice([index for kind in _kinds(argument) for index in self._by_kind[kind]])


def _kinds(argument: Argument) -> Iterable[str]:
    if argument.base in ("Any", "Generator"):
        return ["int", "float", "bool"]
    kind = KINDS.get(argument.base, "int")
    if argument.is_list:
        kind = "optional tensor" if argument.optional_items else kind
        return [f"{'float' if kind == 'number' else kind} list"]
    return ["int", "float", "bool"] if kind == "number" else [kind]


def _name(schema: Schema) -> tuple[str, str]:
    name, _, overload = schema.name.partition(".")
    return name, overload


def _list(number: int, kind: str, size: int, items: list) -> Build:
    return value(number, lambda b: table(b, 1, {0: ("Offset", vector(b, kind, size, items))}))


def write(choose: random.Random) -> bytes:
    """A program of random choices."""
    return Writer(choose).write()
