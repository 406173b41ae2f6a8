# SPDX-License-Identifier: BSD-3-Clause
"""Each failure is an exception of its kind, with what a program may want to know of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import rushlight
from rushlight import llm
from rushlight.errors import (
    BackendNotFound,
    InvalidArgument,
    InvalidProgram,
    OperatorNotFound,
    OutOfMemory,
    RushlightError,
)
from rushlight.program import ProgramParts, TensorInfo, Value, write_program
from rushlight.program.model import Dynamism, KernelCall, Kind, Storage
from rushlight.runtime import Method, Runtime
from rushlight.runtime.native import default_module
from support.foreign_delegates import FOREIGN, foreign_program
from support.programs import Plan, program, scalar, tensor

INTEROP = Path(__file__).parents[2] / "interop"


def echo(dtype: str = "float32", **options: object) -> Method:
    """A method that gives the second of its two inputs back."""
    values = [tensor(dtype), tensor(dtype, offset=4096, **options)]  # type: ignore[arg-type]
    return rushlight.load(program(Plan(values=values, inputs=[0, 1], outputs=[1]))).method("forward")


def test_all_missing_operators_are_in_one_exception() -> None:
    operators = [("acme::last", "out"), ("aten::nowhere", "out"), ("acme::first", "")]
    plan = Plan(operators=operators, calls=[(0, []), (1, []), (2, [])])
    with pytest.raises(OperatorNotFound) as caught:
        rushlight.load(program(plan)).load_method("forward")
    assert caught.value.operators == ["acme::first", "acme::last.out", "aten::nowhere.out"]
    assert all(name in str(caught.value) for name in caught.value.operators)
    assert caught.value.next_step


def test_a_linked_operator_is_not_among_the_missing() -> None:
    linked = sorted(Runtime.get().operator_registry.operator_names)[0]
    name, _, overload = linked.partition(".")
    plan = Plan(operators=[(name, overload), ("acme::missing", "")], calls=[(1, [])])
    with pytest.raises(OperatorNotFound) as caught:
        rushlight.load(program(plan)).load_method("forward")
    assert caught.value.operators == ["acme::missing"]


def test_a_missing_backend_has_its_id_and_those_at_hand() -> None:
    loaded = rushlight.load(foreign_program())
    with pytest.raises(BackendNotFound) as caught:
        loaded.load_method("forward")
    assert caught.value.backends == [FOREIGN]
    assert caught.value.backend == FOREIGN
    assert caught.value.available == Runtime.get().backend_registry.registered_backend_names
    assert caught.value.next_step
    assert loaded.metadata("forward").backends == [FOREIGN]


@pytest.mark.parametrize("got", [np.float64, np.int32, ml_dtypes.bfloat16])
def test_a_wrong_dtype_has_the_input_and_both_dtypes(got: type) -> None:
    with pytest.raises(InvalidArgument) as caught:
        echo()(np.zeros(2, np.float32), np.zeros(2, got))
    error = caught.value
    assert (error.input, error.expected_dtype, error.got_dtype) == (1, "float32", np.dtype(got).name)
    assert error.expected_shape is None
    assert "input 1" in str(error) and "astype" in error.next_step


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_wrong_shape_has_the_input_and_both_shapes(dynamic: bool) -> None:
    with pytest.raises(InvalidArgument) as caught:
        echo(sizes=(2, 3), dynamic=dynamic)(np.zeros(2, np.float32), np.zeros((4, 3), np.float32))
    error = caught.value
    assert (error.input, error.expected_shape, error.got_shape) == (1, (2, 3), (4, 3))
    assert error.expected_dtype is None
    assert "Reshape" in error.next_step


def test_a_wrong_kind_has_the_input() -> None:
    for value in (None, "text", object(), [None], {}):
        with pytest.raises(InvalidArgument) as caught:
            echo()(np.zeros(2, np.float32), value)
        assert caught.value.input == 1
    plan = Plan(values=[scalar(3)], inputs=[0], outputs=[0])
    method = rushlight.load(program(plan)).method("forward")
    for value in (np.zeros(2), 4, 3.5, None, "3"):
        with pytest.raises(InvalidArgument) as caught:
            method(value)
        assert caught.value.input == 0


def test_other_invalid_arguments_are_of_no_input() -> None:
    with pytest.raises(InvalidArgument, match="expected 2 inputs, got 1") as caught:
        echo()(np.zeros(2, np.float32))
    assert caught.value.input is None


def test_an_invalid_program_is_no_invalid_argument() -> None:
    with pytest.raises(InvalidProgram):
        rushlight.load(b"\0" * 64)
    with pytest.raises(InvalidProgram) as caught:
        rushlight.load(program(Plan(values=[scalar(1)], outputs=[5]))).method("forward")
    assert "value 5 of 1" in str(caught.value) and caught.value.next_step


def test_too_little_memory_is_said_with_the_size() -> None:
    with pytest.raises(OutOfMemory, match=str(1 << 61)) as caught:
        rushlight.load(program(Plan(buffer_sizes=[0, 1 << 61]))).method("forward")
    assert caught.value.short is None and caught.value.next_step


def test_an_operator_that_refuses_a_dtype_is_named_with_it() -> None:
    names = Runtime.get().operator_registry.operator_names
    if "aten::maximum.out" not in names:
        pytest.skip("this build does not have aten::maximum.out")
    plan = Plan(
        values=[tensor("complex64")],
        operators=[("aten::maximum", "out")],
        calls=[(0, [0, 0, 0])],
        inputs=[0],
        outputs=[0],
    )
    with pytest.raises(InvalidArgument) as caught:
        rushlight.load(program(plan)).forward(np.zeros(2, np.complex64))
    assert "operator aten::maximum.out: dtype complex64" in str(caught.value)
    assert caught.value.operator == "aten::maximum.out"
    assert "all dtypes" in caught.value.next_step and caught.value.unsupported_dtype


def test_a_program_without_its_data_file_says_to_give_it() -> None:
    with pytest.raises(InvalidArgument, match="no data file was given") as caught:
        rushlight.load(INTEROP / "external_ptd" / "model.pte").load_method("forward")
    assert "data_files=" in caught.value.next_step and not caught.value.unsupported_dtype


def roll_of_a_constant(dim: int) -> bytes:
    """A call that is computed while its method is loaded."""
    order, static = (0,), Dynamism.STATIC
    constant = TensorInfo("float32", (4,), order, static, storage=Storage.CONSTANT, buffer_index=1)
    rolled = TensorInfo("float32", (4,), order, static, storage=Storage.PLANNED, memory_id=1, memory_offset=0)
    tensors = Value(Kind.TENSOR, constant), Value(Kind.TENSOR, rolled)
    method = rushlight.program.Method(
        name="forward",
        values=(*tensors, Value(Kind.INT, dim), Value(Kind.INT_LIST, (2,))),
        inputs=(),
        outputs=(),
        chains=((KernelCall(0, (0, 3, 3, 1)),),),
        operators=("aten::roll.out",),
        delegates=(),
        buffer_sizes=(0, 16),
    )
    return write_program(ProgramParts((method,), [bytes(16)])).tobytes()


@pytest.mark.parametrize("damaged", [llm.Tokenizer, llm.ChatTemplate])
def test_what_a_successful_call_logged_is_not_in_the_next_error(damaged: Callable[[bytes], object]) -> None:
    """roll() refuses the dimension while it is folded; the method loads all the same."""
    method = rushlight.load(roll_of_a_constant(7)).load_method("forward")
    with pytest.raises(RushlightError, match=r"^(vocabulary|chat template): expected"):
        damaged(b"")
    with pytest.raises(
        InvalidArgument, match=r"^operator aten::roll.out: dim: expected one in \[-1, 1\), got 7"
    ):
        method.execute([])


def test_a_missing_method_is_told_once() -> None:
    module = default_module()
    loaded = module.load_file(str(INTEROP / "dynamic_mlp" / "model.pte"))
    with pytest.raises(module.RuntimeFailure) as caught:
        loaded.load_method("nowhere")
    assert caught.value.args[2].count("method nowhere: the program has no such method") == 1


def test_the_error_of_one_call_is_not_in_the_next() -> None:
    method = echo()
    with pytest.raises(InvalidArgument):
        method(np.zeros(2, np.float32), np.zeros(3, np.float32))
    with pytest.raises(InvalidArgument) as caught:
        method(np.zeros(2, np.float32))
    assert "shape" not in str(caught.value)
