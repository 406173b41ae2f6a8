# SPDX-License-Identifier: BSD-3-Clause
"""Baked programs equal the interpreter in cases that no exporter produces: memory of callers, views, moves,
scalars of any kind, jumps between chains, errors, names of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight import runtime
from rushlight.build.baked import BakedBuild, BakedModel, build_baked_programs
from rushlight.errors import RushlightError
from rushlight.program import Method, ProgramParts, Storage, TensorInfo, Value, write_program
from rushlight.program.model import Dynamism, Free, Instruction, JumpFalse, KernelCall, Kind, Move
from rushlight.run.api import run
from rushlight.run.cases import Call, Case

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

NONE = Value(Kind.NONE)
HOSTILE = 'f"; } int main() { return 1; } // \\\n??/'


def number(item: int | float | bool) -> Value:
    """A scalar Value whose kind follows from the Python type."""
    return Value({bool: Kind.BOOL, int: Kind.INT, float: Kind.DOUBLE}[type(item)], item)


def tensor(
    *sizes: int, at: int | None = None, dtype: str = "float32", bound: bool = False, **more: Any
) -> Value:
    """A tensor planned at byte `at`, or without memory."""
    fields: dict[str, Any] = {"storage": Storage.INPUT}
    if at is not None:
        fields = {"storage": Storage.PLANNED, "memory_id": 1, "memory_offset": at}
    order = tuple(range(len(sizes)))
    dynamism = Dynamism.BOUNDED if bound else Dynamism.STATIC
    return Value(Kind.TENSOR, TensorInfo(dtype, sizes, order, dynamism, **{**fields, **more}))


def method(
    values: list[Value],
    calls: list[tuple[str, list[int]] | Instruction],
    inputs: list[int],
    outputs: list[int],
    name: str = "forward",
    rest: tuple[tuple[Instruction, ...], ...] = (),
) -> Method:
    """A method of one chain and the chains of `rest`; calls name their operator."""
    operators = tuple(dict.fromkeys(call[0] for call in calls if isinstance(call, tuple)))
    chain = [
        KernelCall(operators.index(call[0]), tuple(call[1])) if isinstance(call, tuple) else call
        for call in calls
    ]
    return Method(
        name, tuple(values), tuple(inputs), tuple(outputs), (tuple(chain), *rest), operators, (), (0, 4096)
    )


@dataclass(frozen=True)
class Tried:
    """A program and its calls; None stands for inputs of ones."""

    parts: ProgramParts
    calls: list[tuple[str, list[Any]]]


def ramp(*shape: int, dtype: str = "float32") -> np.ndarray:
    """The values 1, 2, 3 and so on."""
    return (np.arange(np.prod(shape, dtype=int)) + 1).reshape(shape).astype(dtype)


ADD, PRIM = "aten::add.out", "executorch_prim::"
ONE = number(1)


def lent() -> Tried:
    """Inputs and an output in the caller's memory; one input is an output, too."""
    values = [tensor(2, 3), tensor(2, 3), ONE, tensor(2, 3)]
    calls = [(ADD, [0, 1, 2, 3, 3])]
    return Tried(
        ProgramParts((method(values, calls, [0, 1], [3, 0]),)),
        [("forward", [ramp(2, 3), ramp(2, 3) * k]) for k in (1, 2)],
    )


def bounded() -> Tried:
    """Dynamic shapes, in memory of the caller and planned."""
    values = [tensor(4, 3, bound=True), tensor(1, 3, at=0), ONE, tensor(4, 3, at=64, bound=True)]
    values.append(tensor(4, 3, bound=True))
    calls = [(ADD, [0, 1, 2, 3, 3]), (ADD, [3, 0, 2, 4, 4])]
    shapes = [(4, 3), (1, 3), (3, 3), (0, 3), (5, 3)]  # the last is too large
    return Tried(
        ProgramParts((method(values, calls, [0, 1], [3, 4]),)),
        [("forward", [ramp(*shape), ramp(1, 3)]) for shape in shapes],
    )


def views() -> Tried:
    """Views of an input and of a view; sizes computed from an input's sizes."""
    values = [tensor(4, 3, bound=True), number(0), number(7), number(-1), Value(Kind.INT_LIST, (3, 6))]
    values += [tensor(6, 2, bound=True), number(2), tensor(12, bound=True), Value(Kind.INT_LIST, (3,))]
    values += [ONE, tensor(6, 2, at=0, bound=True)]
    calls = [
        ("aten::sym_size.int", [0, 1, 2]),
        (PRIM + "et_view.default", [0, 4, 5]),
        (PRIM + "et_view.default", [5, 8, 7]),
        (ADD, [5, 5, 9, 10, 10]),
    ]
    return Tried(
        ProgramParts((method(values, calls, [0], [2, 5, 7, 10]),)),
        [("forward", [ramp(*shape)]) for shape in ((4, 3), (2, 3), (4, 3), (1, 3))],
    )


def moves() -> Tried:
    """A tensor takes another's memory, in a branch; before the move it has no memory."""
    values = [tensor(1, at=0, dtype="bool"), tensor(2, at=16), tensor(2, at=32), tensor(2), ONE]
    values += [tensor(2, at=48), number(False), tensor(2, at=64)]
    calls = [
        JumpFalse(0, 3),
        Move(1, 3),
        JumpFalse(6, 4),
        Move(2, 3),
        (ADD, [3, 1, 4, 5, 5]),
        (ADD, [5, 3, 4, 3, 3]),
        Free(5),
    ]
    flags = [np.array([flag]) for flag in (True, False, True)]
    return Tried(
        ProgramParts((method(values, calls, [0, 1, 2], [3, 5]),)),
        [("forward", [flag, ramp(2), ramp(2) * 10]) for flag in flags],
    )


def numbers() -> Tried:
    """Scalars that change their kind while the program runs, through every operator that returns scalars."""
    operators = ["add", "sub", "mul", "floordiv", "mod", "truediv", "eq", "lt", "ge", "sym_max", "sym_min"]
    values = [tensor(dtype="float64", at=0), tensor(dtype="int64", at=8), number(0), number(0)]
    calls: list[Any] = [
        ("aten::_local_scalar_dense", [0, 2]),
        ("aten::_local_scalar_dense", [1, 3]),
    ]
    outputs = []
    for name in operators:
        outputs.append(len(values))
        values.append(number(0))
        calls.append((f"{PRIM}{name}.Scalar", [2, 3, outputs[-1]]))
    for name in ("neg", "ceil", "round", "trunc", "sym_float", "sym_int", "sym_not"):
        outputs.append(len(values))
        values.append(number(0))
        calls.append((f"{PRIM}{name}.Scalar", [2, outputs[-1]]))
    full = [len(values) + i for i in range(4)]
    values += [Value(Kind.INT_LIST, (outputs[14],)), tensor(9, at=16, bound=True), NONE, number(6)]
    calls.append(("aten::full.out", [full[0], outputs[0], full[1], full[1]]))
    outputs.append(full[1])
    pairs = [(3.75, 2), (-3.5, 2), (2.5, -7), (5.0, 0), (np.nan, 1), (1e30, 3)]
    return Tried(
        ProgramParts((method(values, calls, [0, 1], outputs),)),
        [("forward", [np.array(a), np.array(b)]) for a, b in pairs],
    )


def loops() -> Tried:
    """A loop over two chains: jumps stay in their chain, scalars persist from call to call."""
    values = [tensor(2, at=0), ONE, number(0), number(4), number(False), tensor(2, at=16), number(0.5)]
    calls = [
        (ADD, [0, 0, 1, 5, 5]),
        (PRIM + "add.Scalar", [2, 1, 2]),
        (PRIM + "ge.Scalar", [2, 3, 4]),
        JumpFalse(4, 1),
    ]
    second = (KernelCall(0, (5, 5, 6, 5, 5)), KernelCall(1, (2, 1, 2)), Move(6, 6), JumpFalse(4, 0))
    values[3] = number(4)
    return Tried(
        ProgramParts((method(values, calls, [0], [5, 2, 4], rest=(second,)),)),
        [("forward", [ramp(2)])] * 3,
    )


def states() -> Tried:
    """Several methods with hostile names and separate state, and constants of every kind as outputs."""
    constants = [np.arange(4, dtype=np.float32).tobytes(), np.full(4, 2, np.float32).tobytes()]
    state = tensor(4, at=0, storage=Storage.MUTABLE, buffer_index=1)
    constant = tensor(4, storage=Storage.CONSTANT, buffer_index=1, name=HOSTILE)
    values = [state, constant, ONE, Value(Kind.STRING, HOSTILE), NONE, number(-0.0), number(2**63 - 1)]
    values += [number(-(2**63)), number(True), number(float("inf")), number(float("nan"))]
    calls = [(ADD, [0, 1, 2, 0, 0])]
    names = ["class", HOSTILE, "forward", "forward_reset", "run", "rl", "NULL", "__x", "t"]
    outputs = [0, 1, 4, *range(5, 11)]
    methods = tuple(method(values, calls, [], outputs, name) for name in names)
    return Tried(
        ProgramParts(methods, constants[1:], constants[:1]),
        [(name, []) for name in names] * 2,
    )


def optional() -> Tried:
    """Lists of optional tensors, of written tensors, and scalars and booleans in lists."""
    values = [tensor(3, 4, at=0), tensor(2, at=64, dtype="int64"), NONE]
    values += [Value(Kind.OPTIONAL_TENSOR_LIST, (2, 1)), tensor(3, 2, at=128)]
    values += [
        number(2),
        number(1),
        tensor(3, 2, at=256),
        tensor(3, 2, at=320),
        Value(Kind.TENSOR_LIST, (7, 8)),
    ]
    values += [Value(Kind.INT_LIST, (5, 5))]
    calls = [
        ("aten::index.Tensor_out", [0, 3, 4, 4]),
        ("aten::split_with_sizes_copy.out", [0, 10, 6, 9]),
    ]
    indices = [np.array(pair, np.int64) for pair in ((0, 3), (-1, 1), (9, 0))]
    return Tried(
        ProgramParts((method(values, calls, [0, 1], [4, 7, 8]),)),
        [("forward", [ramp(3, 4), index]) for index in indices],
    )


def scratch() -> Tried:
    """A transform of a length that takes scratch memory, and one that takes more than available."""
    methods = []
    for name, length in (("small", 509), ("large", 3001)):
        values = [tensor(length, at=0), number(0), Value(Kind.INT_LIST, (1,)), number(True)]
        values.append(tensor(length // 2 + 1, at=16384, dtype="complex64"))
        made = method(values, [("aten::_fft_r2c.out", [0, 2, 1, 3, 4, 4])], [0], [4], name)
        methods.append(replace(made, buffer_sizes=(0, 32768)))
    return Tried(
        ProgramParts(tuple(methods)),
        [("small", [ramp(509)]), ("large", [ramp(3001)]), ("small", [ramp(509)])],
    )


TRIED = {
    make.__name__: make for make in (lent, bounded, views, moves, numbers, loops, states, optional, scratch)
}


@dataclass(frozen=True)
class Built:
    """The programs' files by name, and all of them baked in one executable."""

    models: dict[str, Path]
    build: BakedBuild


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Built once."""
    folder = tmp_path_factory.mktemp("baked")
    models = {}
    for name, make in TRIED.items():
        models[name] = folder / f"{name}.pte"
        write_program(make().parts).save(models[name])
    build = build_baked_programs(
        [BakedModel(model) for model in models.values()], output=folder / "build", interpreter=True
    )
    yield Built(models, build)


def result_of(model: Path, case: Case, **options: Any) -> list[Any]:
    """The outputs of the calls, bit for bit, or the kind of error and the instruction."""
    try:
        calls = run(model, case, target="host", **options).calls
    except RushlightError as error:
        return [type(error).__name__, error.instruction]
    return [
        (v.dtype.name, v.shape, v.tobytes()) if isinstance(v, np.ndarray) else (type(v), repr(v))
        for call in calls
        for v in call.result.outputs
    ]


@pytest.mark.parametrize("name", TRIED)
def test_a_baked_program_does_what_the_interpreter_does(name: str, built: Built) -> None:
    tried, model = TRIED[name](), built.models[name]
    listed = [Call(called, inputs, None) for called, inputs in tried.calls]
    cases = [Case(name, 0.0, listed[: n + 1]) for n in range(len(listed))]
    cases += [Case(name, 0.0, [call]) for call in listed]
    for case in cases + [replace(case, fresh_methods=True) for case in cases[: len(listed)]]:
        baked = result_of(model, case, baked=built.build)
        assert baked == result_of(model, case, built=built.build.interpreter)
        if name == "states":
            assert baked[0] not in ("InvalidArgument", "InvalidProgram")


def test_programs_here_run_and_fail(built: Built) -> None:
    ends = set()
    for name, make in TRIED.items():
        for called, inputs in make().calls:
            found = result_of(
                built.models[name], Case(name, 0.0, [Call(called, inputs, None)]), baked=built.build
            )
            ends.add(found[0] if isinstance(found[0], str) else "runs")
    assert {"runs", "InvalidArgument"} <= ends


def test_the_reader_takes_what_is_tried_here(built: Built) -> None:
    for model in built.models.values():
        assert runtime.load(model.read_bytes()).method_names
