# SPDX-License-Identifier: BSD-3-Clause
"""A method returns or refuses any input, and continues to work."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.runtime import Method
from support.programs import Plan, program, tensor

DTYPES = ["float32", "int8", "bool", "int64", "float64", "float16", ">f4", ">i8", "uint8", "bfloat16"]
EXAMPLES = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[str, list[int], list[int], bool, bool]:
    """An input of a program: dtype, sizes, dim order, whether its shape is dynamic, and planned."""
    rank = draw(st.integers(0, 4))
    sizes = draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    order = draw(st.permutations(range(rank)))
    name = draw(st.sampled_from([name for name in DTYPES if name[0] != ">"]))
    return name, sizes, order, draw(st.booleans()), draw(st.booleans())


@st.composite
def arrays(draw: st.DrawFn, name: str, sizes: list[int]) -> np.ndarray:
    """An array, often of the input's shape, in any layout."""
    if draw(st.integers(0, 3)) == 0:
        sizes = draw(st.lists(st.integers(0, 5), max_size=5))
    if draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(DTYPES))
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in sizes]
    axes = draw(st.permutations(range(len(sizes)))) if draw(st.booleans()) else list(range(len(sizes)))
    shape = [sizes[axis] * abs(steps[axis]) for axis in axes]
    base = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    base = (base % 7 > 3) if name == "bool" else base
    array = base.astype(dtype_of(name)).transpose(np.argsort(axes)) if sizes else base.astype(dtype_of(name))
    array = array[(..., *(slice(None, None, step) for step in steps))]
    array.flags.writeable = array.flags.writeable and draw(st.booleans())
    return array


def echo(name: str, sizes: list[int], order: list[int], dynamic: bool, planned: bool) -> Method:
    value = tensor(name, sizes, memory_id=int(planned), dim_order=order, dynamic=dynamic)
    return rushlight.load(program(Plan(values=[value], inputs=[0], outputs=[0]))).method("forward")


@EXAMPLES
@given(st.data())
def test_an_array_comes_back_or_is_refused(data: st.DataObject) -> None:
    name, sizes, order, dynamic, planned = data.draw(inputs())
    method = echo(name, sizes, order, dynamic, planned)
    for _ in range(3):
        array = data.draw(arrays(name, sizes))
        outputs: Any = data.draw(st.sampled_from(["copy", "view", "writable"]))
        before = array.copy()
        fits = array.ndim == len(sizes) and (
            array.size <= np.prod(sizes) if dynamic else list(array.shape) == sizes
        )
        try:
            [out] = method.execute([array], outputs=outputs)
        except InvalidArgument as error:
            assert error.input == 0 and error.next_step
            assert not fits or array.dtype.newbyteorder("=") != dtype_of(name)
        else:
            assert fits and out.dtype == dtype_of(name)
            np.testing.assert_array_equal(out, before)
        np.testing.assert_array_equal(array, before)


@EXAMPLES
@given(
    st.sampled_from(["float32", "int8", "bool", "bfloat16"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        ),
        max_leaves=6,
    ),
)
def test_any_python_value_is_taken_or_refused(name: str, value: Any) -> None:
    method = echo(name, [2], [0], False, True)
    try:
        [out] = method.execute([value])
    except InvalidArgument as error:
        assert error.input == 0
    else:
        assert out.shape == (2,) and out.dtype == dtype_of(name)
    np.testing.assert_array_equal(method(np.zeros(2, dtype_of(name)))[0], np.zeros(2, dtype_of(name)))
