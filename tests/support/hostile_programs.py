# SPDX-License-Identifier: BSD-3-Clause
"""Valid files with hostile contents: calls whose tensors overlap, are empty, or differ from the result in
rank. tests/fuzz/hostile_programs.py writes them to `FOLDER`, where the fuzz target `program` runs them
under sanitizers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.program import Method, ProgramParts, Storage, TensorInfo, Value, write_program
from rushlight.program.model import Dynamism, KernelCall, Kind

FOLDER = Path(__file__).parents[1] / "fuzz" / "regressions" / "program"
PLANNED = 8192


class Call:
    """A program of one call: its values in the order of the operator's schema."""

    def __init__(self, operator: str) -> None:
        self.operator = operator
        self.arguments: list[int] = []
        self._values: list[Value] = []
        self._constants: list[bytes] = []
        self._states: list[bytes] = []

    def constant(self, array: np.ndarray) -> Call:
        """An argument from the file."""
        self._constants.append(array.tobytes())
        return self._tensor(array, Storage.CONSTANT, buffer_index=len(self._constants))

    def state(self, array: np.ndarray, offset: int) -> Call:
        """An argument in planned memory that holds the array before the first call."""
        self._states.append(array.tobytes())
        allocation = {"buffer_index": len(self._states), "memory_id": 1, "memory_offset": offset}
        return self._tensor(array, Storage.MUTABLE, **allocation)

    def planned(self, offset: int, *sizes: int, dtype: str = "float32") -> Call:
        """An argument in planned memory."""
        return self._tensor(np.zeros(sizes, dtype), Storage.PLANNED, memory_id=1, memory_offset=offset)

    def value(self, item: bool | int | float | None) -> Call:
        """An argument that is a scalar or None."""
        kinds = {bool: Kind.BOOL, int: Kind.INT, float: Kind.DOUBLE, type(None): Kind.NONE}
        return self._add(Value(kinds[type(item)], item))

    def ints(self, *items: int) -> Call:
        """An argument that is a list of integers."""
        first = len(self._values)
        self._values += [Value(Kind.INT, item) for item in items]
        return self._add(Value(Kind.INT_LIST, tuple(range(first, len(self._values)))))

    def written(self) -> bytes:
        """The file."""
        call = KernelCall(0, tuple(self.arguments))
        outputs = (self.arguments[-1],)
        method = Method(
            "forward", tuple(self._values), (), outputs, ((call,),), (self.operator,), (), (0, PLANNED)
        )
        return write_program(ProgramParts((method,), self._constants, self._states)).tobytes()

    def _tensor(self, array: np.ndarray, storage: Storage, **allocation: Any) -> Call:
        order = tuple(range(array.ndim))
        info = TensorInfo(str(array.dtype), array.shape, order, Dynamism.STATIC, storage, **allocation)
        return self._add(Value(Kind.TENSOR, info))

    def _add(self, value: Value) -> Call:
        self.arguments.append(len(self._values))
        self._values.append(value)
        return self


def _floats(*sizes: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(sizes)), dtype="float32").reshape(sizes)


def _solve_ex() -> Call:
    call = Call("aten::_linalg_solve_ex.result").constant(np.eye(2, dtype="float32")).constant(_floats(2))
    call.value(True).value(False)
    return call.planned(0, 2).planned(64, 2, 2).planned(0, 2, dtype="int32").planned(128, dtype="int32")


def _lu_solve() -> Call:
    call = Call("aten::linalg_lu_solve.out").constant(np.eye(2, dtype="float32"))
    call.state(np.array([1, 2], "int32"), 0).constant(_floats(2, 1)).value(True).value(False)
    return call.planned(0, 2, 1)


def _ldl_solve() -> Call:
    call = Call("aten::linalg_ldl_solve.out").constant(np.eye(2, dtype="float32"))
    return call.state(np.array([1, 2], "int32"), 0).constant(_floats(2, 1)).value(False).planned(0, 2, 1)


def _lu_unpack() -> Call:
    call = Call("aten::lu_unpack.out").constant(_floats(2, 2)).state(np.array([1, 2], "int32"), 0)
    return call.value(True).value(True).planned(64, 2, 2).planned(0, 2, 2).planned(128, 2, 2)


def _lu_unpack_few_pivots() -> Call:
    call = Call("aten::lu_unpack.out").constant(_floats(2, 1, 2, 2)).constant(np.zeros((2, 0, 2), "int32"))
    call.value(True).value(True).planned(64, 2, 1, 2, 2).planned(256, 2, 1, 2, 2)
    return call.planned(512, 2, 1, 2, 2)


def _convolution(spatial: int, transposed: bool) -> Call:
    weight = (1, 0) if transposed else (0, 1)
    call = Call("aten::convolution.out").constant(_floats(1, 1, *[4] * spatial))
    call.constant(np.zeros((*weight, *[3] * spatial), "float32")).value(None)
    call.ints(*[1] * spatial).ints(*[0] * spatial).ints(*[1] * spatial).value(transposed)
    return call.ints(*[0] * spatial).value(1).planned(0, 1, 0, *[6 if transposed else 2] * spatial)


def _linear_of_another_rank() -> Call:
    call = Call("aten::linear.out").constant(_floats(2, 3, 12)).constant(_floats(20, 12))
    return call.constant(_floats(20)).planned(0, 120)


def _lstm_over_its_cell() -> Call:
    steps, units = 2, 3
    call = Call("rushlight::lstm.out").constant(_floats(steps, 1, 4 * units)).constant(_floats(1, units))
    call.state(_floats(1, units), 4).constant(_floats(4 * units, units)).value(False)
    return call.planned(256, steps, 1, units).planned(260, 1, units).planned(0, 1, units)


def _rows_over_themselves() -> Call:
    # Rows of more bytes than a vector copy.
    call = Call("aten::permute_copy.out").state(_floats(2, 2, 300), 0)
    return call.ints(1, 0, 2).planned(4, 2, 2, 300)


PROGRAMS: dict[str, Callable[[], Call]] = {
    "pivots_under_the_result": _solve_ex,
    "pivots_under_the_solution": _lu_solve,
    "pivots_of_blocks_under_the_solution": _ldl_solve,
    "pivots_under_unpacked_factors": _lu_unpack,
    "pivots_for_no_matrix": _lu_unpack_few_pivots,
    **{
        f"convolution_{spatial}d{suffix}_without_outputs": partial(_convolution, spatial, bool(suffix))
        for spatial in (1, 2, 3)
        for suffix in ("", "_transposed")
    },
    "linear_of_another_rank": _linear_of_another_rank,
    "lstm_over_its_cell": _lstm_over_its_cell,
    "rows_over_themselves": _rows_over_themselves,
}
