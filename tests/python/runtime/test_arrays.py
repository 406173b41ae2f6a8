# SPDX-License-Identifier: BSD-3-Clause
"""Copies and views: arrays that go in, views that come out."""

from __future__ import annotations

import gc
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.runtime import Method, Runtime
from support.programs import Plan, program, scalar, tensor

needs_add = pytest.mark.skipif(
    "aten::add.out" not in Runtime.get().operator_registry.operator_names,
    reason="this build does not have aten::add.out",
)


def echo(dtype: str = "float32", *, planned: bool = True, **options: object) -> Method:
    """A method that gives its one input back."""
    plan = Plan(values=[tensor(dtype, memory_id=int(planned), **options)], inputs=[0], outputs=[0])  # type: ignore[arg-type]
    return rushlight.load(program(plan)).method("forward")


def doubling(planned: bool) -> Method:
    """A method that writes its input plus itself to where the input is."""
    plan = Plan(
        values=[tensor("float32", memory_id=int(planned)), scalar(1)],
        operators=[("aten::add", "out")],
        calls=[(0, [0, 0, 1, 0])],
        inputs=[0],
        outputs=[0],
    )
    return rushlight.load(program(plan)).method("forward")


def shares(array: np.ndarray, other: np.ndarray) -> bool:
    return np.shares_memory(array, other)


# ---- In ----


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, ml_dtypes.bfloat16])
def test_an_unplanned_input_is_used_in_place(dtype: type) -> None:
    method = echo(np.dtype(dtype).name, planned=False)
    given = np.ones(2, dtype)
    assert shares(method.execute([given], outputs="view")[0], given)


def test_planned_memory_starts_at_a_cache_line() -> None:
    # Allocations of 16 bytes' alignment would start there by chance, one in four.
    methods = [echo(sizes=[100 + 4 * i]) for i in range(8)]
    given = [np.zeros(100 + 4 * i, np.float32) for i in range(8)]
    views = [m.execute([g], outputs="view")[0] for m, g in zip(methods, given, strict=True)]
    assert [view.ctypes.data % 64 for view in views] == [0] * 8


def test_a_planned_input_is_copied() -> None:
    given = np.float32([1, 2])
    assert not shares(echo().execute([given], outputs="view")[0], given)


def test_an_unplanned_input_is_used_in_place_in_its_dim_order() -> None:
    method = echo(planned=False, sizes=(1, 2, 3, 4), dim_order=(0, 2, 3, 1))
    rows = np.zeros((1, 2, 3, 4), np.float32)
    last = np.zeros((1, 3, 4, 2), np.float32).transpose(0, 3, 1, 2)
    assert shares(method.execute([last], outputs="view")[0], last)
    assert not shares(method.execute([rows], outputs="view")[0], rows)


def test_dimensions_of_one_may_have_any_stride() -> None:
    method = echo(planned=False, sizes=(3, 1))
    given = np.zeros((3, 8), np.float32).T[:1].T[:, :1]
    dense = np.lib.stride_tricks.as_strided(np.zeros(3, np.float32), (3, 1), (4, 400))
    assert not shares(method.execute([given], outputs="view")[0], given)
    assert shares(method.execute([dense], outputs="view")[0], dense)


def test_what_cannot_be_lent_is_copied() -> None:
    method = echo(planned=False)
    read_only = np.float32([1, 2])
    read_only.flags.writeable = False
    odd = np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float32)
    swapped = np.array([1, 2], ">f4")
    gaps = np.zeros((2, 2), np.float32)[:, 0]
    for given in (read_only, odd, swapped, gaps):
        [out] = method.execute([given], outputs="view")
        assert not shares(out, given)
        np.testing.assert_array_equal(out, given)
        assert out.dtype == np.dtype(np.float32)


@needs_add
def test_a_lent_array_is_written_where_it_is_and_a_planned_input_is_not() -> None:
    given = np.float32([1, 2])
    doubling(planned=False)(given)
    np.testing.assert_array_equal(given, [2, 4])
    doubling(planned=True)(given)
    np.testing.assert_array_equal(given, [2, 4])


def test_an_array_in_use_is_kept_until_it_is_replaced() -> None:
    class Owned(np.ndarray):
        """An array that can be referred to weakly."""

    method = echo(planned=False)
    given = np.zeros(2, np.float32).view(Owned)
    kept = weakref.ref(given)
    method(given)
    del given
    gc.collect()
    assert kept() is not None
    method.execute(None)
    method(np.zeros(2, np.float32))
    gc.collect()
    assert kept() is None


def test_a_planned_input_is_not_kept() -> None:
    given = np.zeros(2, np.float32)
    before = sys.getrefcount(given)
    method = echo()
    method(given)
    assert sys.getrefcount(given) == before


def test_a_dynamic_input_takes_arrays_of_any_layout() -> None:
    for planned in (True, False):
        method = echo(planned=planned, sizes=(4, 6), dynamic=True)
        base = np.arange(48, dtype=np.float32).reshape(4, 12)
        for given in (base[:, ::2], base[:2, 3::3], base[:3, :4].T, base[:0, :6], base[::-1, :6]):
            [out] = method(given)
            np.testing.assert_array_equal(out, given)


def test_inputs_can_be_set_before_and_used_again() -> None:
    method = echo()
    method.set_inputs([np.float32([3, 4])])
    np.testing.assert_array_equal(method.execute(None)[0], [3, 4])
    np.testing.assert_array_equal(method.execute(None)[0], [3, 4])
    np.testing.assert_array_equal(method.get_outputs()[0], [3, 4])
    with pytest.raises(InvalidArgument, match=r"input 0: expected shape \[2\], got \[3\]"):
        method.set_inputs([np.zeros(3, np.float32)])
    with pytest.raises(InvalidArgument, match="expected 1 inputs, got 0"):
        method.set_inputs([])


# ---- Out ----


def test_views_change_with_the_next_run_and_copies_do_not() -> None:
    method = echo()
    [copy] = method.execute([np.float32([1, 2])])
    [view] = method.execute([np.float32([1, 2])], outputs="view")
    method(np.float32([3, 4]))
    np.testing.assert_array_equal(copy, [1, 2])
    np.testing.assert_array_equal(view, [3, 4])


def test_views_are_writable_on_request_only() -> None:
    method = echo()
    [view] = method.execute([np.float32([1, 2])], outputs="view")
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 5
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    [writable] = method.execute([np.float32([1, 2])], outputs="writable")
    writable[0] = 5
    np.testing.assert_array_equal(method.get_outputs()[0], [5, 2])


def test_a_view_keeps_the_method_alive() -> None:
    [view] = echo().execute([np.float32([1, 2])], outputs="view")
    gc.collect()
    other = [np.full(1 << 16, 7, np.uint8) for _ in range(64)]
    np.testing.assert_array_equal(view, [1, 2])
    del other


def test_a_view_of_a_lent_input_keeps_it_alive() -> None:
    method = echo(planned=False, sizes=(1 << 16,))
    [view] = method.execute([np.full(1 << 16, 3, np.float32)], outputs="view")
    method(np.zeros(1 << 16, np.float32))
    gc.collect()
    other = [np.full(1 << 16, 7, np.float32) for _ in range(16)]
    assert (view == 3).all()
    del other


def test_views_go_with_inputs_of_all_kinds() -> None:
    plan = Plan(
        values=[tensor("float32", memory_id=0), tensor("float32"), scalar(3), scalar(None)],
        inputs=[0, 1, 2, 3],
        outputs=[1, 0, 2, 3],
    )
    method = rushlight.load(program(plan)).method("forward")
    given = np.float32([1, 2])
    planned, lent, number, nothing = method.execute([given, given[::-1], 3, None], outputs="view")
    np.testing.assert_array_equal(planned, [2, 1])
    assert shares(lent, given)
    assert (number, nothing) == (3, None)


def test_a_view_may_go_in_again() -> None:
    method = echo()
    [view] = method.execute([np.float32([1, 2])], outputs="view")
    np.testing.assert_array_equal(method(view)[0], [1, 2])
    np.testing.assert_array_equal(method(view[::-1])[0], [2, 1])


def test_an_unknown_kind_of_outputs_is_refused() -> None:
    with pytest.raises(ValueError, match="'copy', 'view' or 'writable', got 'clone'"):
        echo().execute([np.float32([1, 2])], outputs="clone")  # type: ignore[arg-type]


def test_an_empty_tensor_comes_out() -> None:
    for planned in (True, False):
        method = echo(planned=planned, sizes=(0, 3))
        for outputs in ("copy", "view", "writable"):
            [out] = method.execute([np.zeros((0, 3), np.float32)], outputs=outputs)  # type: ignore[arg-type]
            assert out.shape == (0, 3)


def test_a_scalar_tensor_comes_out_as_an_array() -> None:
    [out] = echo(sizes=())(np.float32(2.5))
    assert isinstance(out, np.ndarray)
    assert out.shape == () and out == 2.5


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        ("uint8", [256, 0]),
        ("uint8", [-1, 0]),
        ("int8", [128, 0]),
        ("int32", [1 << 31, 0]),
        ("int64", [1 << 63, 0]),
        ("int32", [0.5, 0]),
        ("bool", [2, 0]),
        ("float16", [1e6, 0]),
    ],
)
def test_plain_numbers_that_an_input_cannot_hold_are_refused(dtype: str, given: list[int | float]) -> None:
    with pytest.raises(InvalidArgument, match=r"input 0: .*(cannot hold|no array)"):
        echo(dtype).execute([given])
    held = {"int64": (1 << 63) - 1, "int32": -(1 << 31), "int8": -128, "uint8": 255}.get(dtype, 1)
    (out,) = echo(dtype).execute([[held, 0]])
    assert out.dtype.name == dtype and out.tolist() == [held, 0]
