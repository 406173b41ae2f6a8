# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.load: what comes in, what comes out, and what is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import rushlight
from rushlight.errors import (
    BackendNotFound,
    InvalidArgument,
    InvalidProgram,
    MethodNotFound,
    OperatorNotFound,
    OutOfMemory,
)
from rushlight.runtime import Method, Runtime
from support.foreign_delegates import FOREIGN, foreign_program
from support.programs import Plan, program, scalar, tensor

INTEROP = Path(__file__).parents[2] / "interop"
ADD = INTEROP / "f64_add" / "model.pte"


def needs(*operators: str) -> pytest.MarkDecorator:
    """Skips where the module was built without these operators."""
    missing = sorted(set(operators) - Runtime.get().operator_registry.operator_names)
    return pytest.mark.skipif(bool(missing), reason=f"this build does not have {', '.join(missing)}")


def echo(dtype: str, *, planned: bool = True, **options: object) -> Method:
    """A method that gives its one input back."""
    plan = Plan(
        values=[tensor(dtype, memory_id=int(planned), **options)],  # type: ignore[arg-type]
        inputs=[0],
        outputs=[0],
    )
    return rushlight.load(program(plan)).method("forward")


# ---- Where programs come from ----


@pytest.mark.parametrize("kind", [str, Path, bytes, bytearray, memoryview])
@needs("aten::add.out")
def test_a_program_is_loaded_from_a_path_or_its_bytes(kind: type) -> None:
    source = kind(ADD) if kind in (str, Path) else kind(ADD.read_bytes())
    loaded = rushlight.load(source)
    assert loaded.method_names == ["forward"]
    a = np.arange(12, dtype=np.float64).reshape(3, 4)
    [info, *_] = loaded.method("forward").inputs
    a = np.arange(np.prod(info.shape), dtype=np.float64).reshape(info.shape)
    np.testing.assert_array_equal(loaded.forward(a, a)[0], a + a)


def test_the_bytes_may_change_once_they_are_loaded() -> None:
    data = bytearray(program(Plan(values=[scalar(7)], outputs=[0])))
    loaded = rushlight.load(data)
    data[:] = bytes(len(data))
    assert loaded.forward() == [7]


def test_bytes_with_gaps_are_read_in_order() -> None:
    data = program(Plan(values=[scalar(7)], outputs=[0]))
    assert rushlight.load(memoryview(data[::-1])[::-1]).forward() == [7]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"nowhere\.pte: No such file"):
        rushlight.load(tmp_path / "nowhere.pte")
    with pytest.raises(InvalidArgument, match="regular file"):
        rushlight.load(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "too few"),
        (b"\x7fELF\x02\x01\x01\x00" * 8, "expected the identifier ET12"),
        (b"PK\x03\x04" * 100, "expected the identifier ET12"),
        ((INTEROP / "bundled" / "model.bpte").read_bytes(), "expected the identifier ET12"),
        (b"\xf0\xff\xff\xffET12" + bytes(64), "damaged at byte"),
        (b"\x08\0\0\0ET12" + bytes(64), "damaged at byte"),
    ],
)
def test_a_foreign_file_is_refused_with_what_was_expected(data: bytes, message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        rushlight.load(data)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = (INTEROP / "cond_sum" / "model.pte").read_bytes()
    path = tmp_path / "cut.pte"
    for size in range(0, len(data), 97):
        with pytest.raises(InvalidProgram):
            rushlight.load(data[:size])
        path.write_bytes(data[:size])
        with pytest.raises(InvalidProgram):
            rushlight.load(path)


# ---- Methods ----


def test_an_unknown_method_names_those_there_are() -> None:
    loaded = rushlight.load(INTEROP / "multi_method" / "model.pte")
    with pytest.raises(MethodNotFound) as caught:
        loaded.run("nope", [])
    assert all(name in str(caught.value) for name in loaded.method_names)
    assert len(loaded.method_names) > 1


def test_a_missing_operator_is_named() -> None:
    plan = Plan(operators=[("aten::nowhere", "out"), ("acme::other", "")], calls=[(0, []), (1, [])])
    with pytest.raises(OperatorNotFound, match=r"aten::nowhere\.out") as caught:
        rushlight.load(program(plan)).forward()
    assert set(caught.value.requested) == {"aten::nowhere.out", "acme::other"}


def test_a_missing_backend_is_named() -> None:
    with pytest.raises(BackendNotFound, match=FOREIGN) as caught:
        rushlight.load(foreign_program()).method("forward")
    # There is none to build with.
    assert "without that partitioner" in caught.value.next_step and "build with" not in caught.value.next_step


def test_names_may_be_any_bytes() -> None:
    data = program(Plan(operators=[("aten::nowhere", "out")], calls=[(0, [])]))
    broken = data.replace(b"forward", b"f\xff\xfeward").replace(b"nowhere", b"now\xc3ere")
    loaded = rushlight.load(broken)
    assert len(loaded.method_names) == 1
    with pytest.raises(MethodNotFound):
        loaded.method("forward")
    with pytest.raises(OperatorNotFound):
        rushlight.load(data.replace(b"nowhere", b"now\xc3ere")).method("forward")


def test_memory_that_nobody_has_is_refused() -> None:
    with pytest.raises(OutOfMemory, match="memory: expected at most"):
        rushlight.load(program(Plan(buffer_sizes=[0, 1 << 61]))).method("forward")


@needs("aten::add.out")
def test_memory_is_reported() -> None:
    method = rushlight.load(ADD).method("forward")
    memory = method.memory()
    assert memory["method_arena"] > 0
    assert sum(memory["planned"]) > 0


# ---- Inputs ----


@needs("aten::add.out")
def test_a_wrong_count_of_inputs_is_refused() -> None:
    method = rushlight.load(ADD).method("forward")
    with pytest.raises(InvalidArgument, match="expected 2 inputs, got 1"):
        method.execute([np.zeros(method.inputs[0].shape)])


@pytest.mark.parametrize("planned", [True, False])
def test_a_wrong_shape_is_refused(planned: bool) -> None:
    method = echo("float32", planned=planned, sizes=(2, 3))
    for shape in [(3, 2), (6,), (2, 3, 1), ()]:
        with pytest.raises(InvalidArgument, match=r"input 0: expected shape \[2, 3\]"):
            method(np.zeros(shape, np.float32))


@pytest.mark.parametrize("planned", [True, False])
def test_a_dynamic_shape_is_bounded(planned: bool) -> None:
    method = echo("float32", planned=planned, sizes=(4, 3), dynamic=True)
    for shape in [(2, 3), (4, 3), (0, 3), (12, 1), (1, 1)]:
        [out] = method(np.ones(shape, np.float32))
        assert out.shape == shape
    for shape in [(13, 1), (12,)]:
        with pytest.raises(InvalidArgument, match=r"input 0: expected shape at most \[4, 3\]"):
            method(np.ones(shape, np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float16, np.bool_, ml_dtypes.bfloat16, "U3", "O"])
def test_a_wrong_dtype_is_refused(dtype: type) -> None:
    with pytest.raises(InvalidArgument, match="expected dtype float32"):
        echo("float32")(np.zeros(2).astype(dtype))


DTYPES = """uint8 int8 int16 int32 int64 float16 float32 float64 bool bfloat16
uint16 uint32 uint64 complex64 complex128"""


@pytest.mark.parametrize("dtype", DTYPES.split())
def test_every_dtype_goes_in_and_comes_out(dtype: str) -> None:
    given = np.array([0, 1]).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    [out] = echo(dtype)(given)
    assert out.dtype == given.dtype
    np.testing.assert_array_equal(out, given)


def test_arrays_of_any_layout_go_in() -> None:
    method = echo("float32", sizes=(2, 3))
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for array in (base[::2, ::2], base[:2, :3][::-1], np.asfortranarray(base[:2, :3]), base[:3, :2].T):
        np.testing.assert_array_equal(method(array)[0], array)


def test_arrays_of_the_other_byte_order_go_in() -> None:
    np.testing.assert_array_equal(echo("float32")(np.array([1, 2], dtype=">f4"))[0], [1, 2])


def test_a_channels_last_input_takes_and_gives_arrays_of_the_logical_shape() -> None:
    method = echo("float32", sizes=(1, 2, 3, 4), dim_order=(0, 2, 3, 1))
    array = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    for given in (array, np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)):
        [out] = method(given)
        np.testing.assert_array_equal(out, array)
        assert out.strides == (96, 4, 32, 8)
    assert method.inputs[0].dim_order == (0, 2, 3, 1)


def test_buffers_and_dlpack_go_in() -> None:
    class OnlyDlpack:
        """An array that numpy can take through DLPack alone."""

        def __init__(self, array: np.ndarray) -> None:
            self._array = array

        def __dlpack__(self, **options: object) -> object:
            return self._array.__dlpack__(**options)  # type: ignore[arg-type]

        def __dlpack_device__(self) -> object:
            return self._array.__dlpack_device__()

    method = echo("float32")
    array = np.array([1, 2], np.float32)
    for given in (memoryview(array), OnlyDlpack(array)):
        np.testing.assert_array_equal(method(given)[0], array)


def test_numbers_and_lists_take_the_dtype_of_the_input() -> None:
    np.testing.assert_array_equal(echo("bfloat16")([1, 2])[0].astype(np.float32), [1, 2])
    np.testing.assert_array_equal(echo("int8", sizes=())(5)[0], np.int8(5))
    np.testing.assert_array_equal(echo("bool")([True, False])[0], [True, False])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", [1, 300]),
        ("uint8", [1, -1]),
        ("int32", [1.5, 2]),
        ("int64", [1 << 70, 0]),
        ("bool", [2, 0]),
        ("float32", [1e300, 0]),
        ("bfloat16", [1e300, 0]),
        ("float16", [65536, 0]),
        ("float32", [[1], [2, 3]]),
        ("float32", ["a", "b"]),
        ("float32", [None, 1]),
    ],
)
def test_numbers_that_the_input_cannot_hold_are_refused(dtype: str, value: list) -> None:
    with pytest.raises(InvalidArgument, match="input 0"):
        echo(dtype)(value)


def test_none_is_no_tensor() -> None:
    with pytest.raises(InvalidArgument, match="got None"):
        echo("float32")(None)


def test_plain_values_have_to_be_those_of_the_export() -> None:
    plan = Plan(
        values=[scalar(3), scalar(2.0), scalar(True), scalar(None)], inputs=[0, 1, 2, 3], outputs=[0, 1, 2, 3]
    )
    method = rushlight.load(program(plan)).method("forward")
    assert method(3, 2, True, None) == [3, 2.0, True, None]
    assert method(np.int64(3), np.float32(2), np.True_, None) == [3, 2.0, True, None]
    for wrong in [(4, 2.0, True, None), (3, 2.5, True, None), (3, 2.0, False, None), (3, 2.0, True, 1)]:
        with pytest.raises(InvalidArgument, match="input"):
            method(*wrong)
    for strange in ["3", 1 << 64, object(), [3], np.zeros(2)]:
        with pytest.raises(InvalidArgument, match="input 0"):
            method(strange, 2.0, True, None)


def test_a_failed_call_leaves_the_method_usable() -> None:
    method = echo("float32")
    with pytest.raises(InvalidArgument):
        method(np.zeros(3, np.float32))
    np.testing.assert_array_equal(method(np.float32([4, 5]))[0], [4, 5])


@needs("aten::add.out")
def test_what_a_program_writes_to_an_input_reaches_writable_arrays_only() -> None:
    plan = Plan(
        values=[tensor("float32", memory_id=0), scalar(1)],
        operators=[("aten::add", "out")],
        calls=[(0, [0, 0, 1, 0])],
        inputs=[0],
        outputs=[0],
    )
    method = rushlight.load(program(plan)).method("forward")
    read_only = np.frombuffer(np.float32([1, 2]).tobytes(), np.float32)
    np.testing.assert_array_equal(method(read_only)[0], [2, 4])
    np.testing.assert_array_equal(read_only, [1, 2])


# ---- Outputs and state ----


def test_outputs_are_the_callers_own() -> None:
    method = echo("float32")
    [first] = method(np.float32([1, 2]))
    [second] = method(np.float32([3, 4]))
    np.testing.assert_array_equal(first, [1, 2])
    first[:] = 9
    np.testing.assert_array_equal(second, [3, 4])


def test_values_without_memory_are_refused_as_outputs() -> None:
    with pytest.raises(InvalidProgram):
        rushlight.load(program(Plan(values=[tensor("float32", memory_id=2)], outputs=[0]))).forward()


def test_a_bad_index_is_refused() -> None:
    with pytest.raises(InvalidProgram, match="value 5 of 1"):
        rushlight.load(program(Plan(values=[scalar(1)], outputs=[5]))).forward()


@needs("aten::add.out", "aten::copy_", "aten::mul.out")
def test_each_instance_of_a_method_has_state_of_its_own() -> None:
    loaded = rushlight.load(INTEROP / "mutable_counter" / "model.pte")
    inputs = [np.ones(info.shape, info.dtype) for info in loaded.method("forward").inputs]
    first, second = loaded.load_method("forward"), loaded.load_method("forward")
    one = first.execute(inputs)
    two = first.execute(inputs)
    assert any(not np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    for a, b in zip(one, second.execute(inputs), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_method_outlives_its_program() -> None:
    method = echo("float32")  # the program is gone by now
    np.testing.assert_array_equal(method(np.float32([1, 2]))[0], [1, 2])


@needs("aten::add.out")
@pytest.mark.parametrize("shared", [True, False], ids=["one method", "two methods"])
def test_threads_do_not_disturb_each_other(shared: bool) -> None:
    loaded = rushlight.load(ADD)
    methods = [loaded.load_method("forward")] * 2 if shared else [loaded.load_method("forward") for _ in "ab"]
    shape = methods[0].inputs[0].shape
    wrong: list[object] = []

    def work(method: Method, value: float) -> None:
        array = np.full(shape, value)
        for _ in range(300):
            [out] = method(array, array)
            if not np.all(out == 2 * value):
                wrong.append(out)
            try:
                method(array, np.zeros((1, 1, 1)))
            except InvalidArgument as error:
                if "input 1" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(m, v)) for m, v in zip(methods, (1.0, 2.0), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
