# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch computes operators and dtypes without a kernel: rushlight.load(..., fallback="aten")."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument, InvalidProgram, MissingDependency, OperatorNotFound
from rushlight.runtime import Program, Runtime
from support.programs import Plan, numbers, program, scalar, string, tensor, tensors

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.utils._pytree import tree_map_only  # noqa: E402

# The operators of these tests are defined here, so that no build has a kernel for them.
TEST_LIBRARY = torch.library.Library("rushlight_fallback_test", "FRAGMENT")


def one_call(operator: tuple[str, str], values: Sequence[Any], out: int, inputs: Sequence[int]) -> bytes:
    """A program of one call with all values as arguments."""
    plan = Plan(
        values=list(values),
        operators=[operator],
        calls=[(0, list(range(len(values))))],
        inputs=list(inputs),
        outputs=[out],
    )
    return program(plan)


def unary(
    operator: tuple[str, str], dtype: str = "float32", result: str = "", *, size: int = 4, **out: Any
) -> bytes:
    """A program of one call (input, out)."""
    values = [tensor(dtype, (size,)), tensor(result or dtype, (size,), offset=256, **out)]
    return one_call(operator, values, 1, [0])


def served(data: bytes, fallback: str = "aten") -> Program:
    return rushlight.load(data, fallback=fallback)  # type: ignore[arg-type]


def define(schema: str, function: Any) -> tuple[str, str]:
    """Registers an operator with PyTorch for a test; returns its name in a program."""
    TEST_LIBRARY.define(schema)
    name = schema.partition("(")[0]
    TEST_LIBRARY.impl(name, function, "CompositeExplicitAutograd")
    base, _, overload = name.partition(".")
    return f"rushlight_fallback_test::{base}", overload


def test_the_error_for_a_missing_operator_names_the_fallback() -> None:
    data = unary(("aten::nobody_has_this", "out"))
    with pytest.raises(OperatorNotFound) as raised:
        rushlight.load(data).method("forward")
    assert 'fallback="aten"' in str(raised.value.next_step)
    with pytest.raises(OperatorNotFound) as raised:
        served(data).method("forward")
    assert "fallback" not in str(raised.value.next_step)


def test_an_operator_is_found_in_the_functional_form_too() -> None:
    name = define("twice(Tensor x) -> Tensor", lambda x: x * 2)
    loaded = served(unary((name[0], "out")))
    assert loaded.fallback_operators == {"rushlight_fallback_test::twice.out": 0}
    np.testing.assert_array_equal(loaded.forward(np.float32([1, 2, 3, 4]))[0], np.float32([2, 4, 6, 8]))
    assert loaded.fallback_operators == {"rushlight_fallback_test::twice.out": 1}


def test_an_out_overload_writes_the_memory_of_the_program() -> None:
    seen = []

    def halve(x: Any, *, out: Any) -> Any:
        seen.append(x.data_ptr() - out.data_ptr())
        return out.copy_(x / 2)

    name = define("halve.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", halve)
    loaded = served(unary(name))
    np.testing.assert_array_equal(loaded.forward(np.float32([2, 4, 6, 8]))[0], np.float32([1, 2, 3, 4]))
    assert seen == [-256]


DTYPES = "uint8 int8 int16 int32 int64 float16 float32 float64 bool bfloat16 uint16 uint32 uint64 complex64"


@pytest.mark.parametrize("dtype", [*DTYPES.split(), "complex128"])
def test_tensors_of_every_dtype_are_lent(dtype: str) -> None:
    name = define(f"same_{dtype}(Tensor x) -> Tensor", lambda x: x.clone())
    given = torch.tensor([0, 1, 1, 0]).to(getattr(torch, dtype))
    [got] = served(unary((name[0], "out"), dtype)).forward(given)
    assert got.dtype is given.dtype
    assert torch.equal(got, given)


def test_dim_orders_and_ranks_are_kept() -> None:
    seen = []

    def look(x: Any) -> Any:
        seen.append((tuple(x.shape), x.stride()))
        return x.clone()

    name = define("look(Tensor x) -> Tensor", look)
    order = [0, 2, 3, 1]
    values = [
        tensor("float32", (1, 2, 3, 4), dim_order=order),
        tensor("float32", (1, 2, 3, 4), offset=256),
    ]
    given = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    [got] = served(one_call((name[0], "out"), values, 1, [0])).forward(given)
    np.testing.assert_array_equal(got, given)
    values = [tensor("float32", ()), tensor("float32", (), offset=256)]
    [got] = served(one_call((name[0], "out"), values, 1, [0])).forward(np.float32(3))
    assert got == 3
    assert seen == [((1, 2, 3, 4), (24, 1, 8, 2)), ((), ())]


def test_other_kinds_of_arguments_arrive() -> None:
    seen: list[Any] = []

    def take(x: Any, *rest: Any) -> Any:
        seen.extend(tree_map_only(torch.Tensor, lambda tensor: tensor.tolist(), rest))  # lent for the call
        return x + 1

    kinds = "Tensor x, int n, float f, bool b, Scalar s, str t, int[] k, float[] g, bool[] o, Tensor[] l, "
    kinds += "Tensor?[] p, Tensor? z, int? m"
    name = define(f"take({kinds}) -> Tensor", take)
    values = [
        tensor("float32", (2,)),
        scalar(3),
        scalar(2),
        scalar(True),
        scalar(1.5),
        string("abc"),
        numbers(int, [14, 15]),
        numbers(float, [0.5]),
        numbers(bool, [True, False]),
        tensors([0, 0]),
        tensors([0, -1], optional=True),
        scalar(None),
        scalar(None),
        tensor("float32", (2,), offset=256),
        scalar(4),
        scalar(5),
    ]
    plan = Plan(
        values=values, operators=[(name[0], "out")], calls=[(0, list(range(14)))], inputs=[0], outputs=[13]
    )
    [got] = served(program(plan)).forward(np.float32([1, 2]))
    np.testing.assert_array_equal(got, np.float32([2, 3]))
    assert seen[:8] == [3, 2.0, True, 1.5, "abc", [4, 5], [0.5], [True, False]]
    assert seen[8:] == [[[1, 2], [1, 2]], [[1, 2], None], None, None]


def test_a_result_of_another_shape_resizes_a_dynamic_output() -> None:
    data = one_call(
        ("aten::nonzero", "out"),
        [tensor("float32", (4,)), tensor("int64", (4, 1), offset=256, dynamic=True)],
        1,
        [0],
    )
    loaded = served(data, "aten-first")
    for given in ([0, 1, 0, 2], [0, 0, 0, 0], [1, 1, 1, 1]):
        [got] = loaded.forward(np.float32(given))
        np.testing.assert_array_equal(got, np.argwhere(np.array(given)))


def test_a_result_that_does_not_fit_is_refused() -> None:
    name = define("longer(Tensor x) -> Tensor", lambda x: torch.cat([x, x]))
    with pytest.raises(InvalidArgument, match=r"out: expected shape \[4\], got \[8\]"):
        served(unary((name[0], "out"))).forward(np.zeros(4, np.float32))
    with pytest.raises(InvalidArgument, match="at most 4 elements, got shape"):
        served(unary((name[0], "out"), dynamic=True)).forward(np.zeros(4, np.float32))
    name = define("wider(Tensor x) -> Tensor", lambda x: x.double())
    with pytest.raises(InvalidArgument, match=r"out: expected torch\.float32, got torch\.float64"):
        served(unary((name[0], "out"))).forward(np.zeros(4, np.float32))


def needs_kernel(name: str) -> None:
    if name not in Runtime.get().operator_registry.operator_names:
        pytest.skip(f"this build does not have {name}")


def test_a_dtype_without_a_kernel_is_computed_by_pytorch() -> None:
    needs_kernel("aten::nan_to_num.out")
    given = torch.tensor([1 + 2j, float("nan"), 3, 4], dtype=torch.complex64)
    values = [tensor("complex64", (4,)), *[scalar(None)] * 3, tensor("complex64", (4,), offset=256)]
    data = one_call(("aten::nan_to_num", "out"), values, 4, [0])
    with pytest.raises(InvalidArgument, match="dtype complex64 is not supported"):
        rushlight.load(data).forward(given)
    loaded = served(data)
    assert loaded.fallback_operators == {}
    assert torch.equal(loaded.forward(given)[0], torch.nan_to_num(given))
    assert loaded.fallback_operators == {"aten::nan_to_num.out": 1}


def test_a_failed_call_tells_both_reasons() -> None:
    needs_kernel("aten::sin.out")
    with pytest.raises(InvalidArgument) as raised:
        served(unary(("aten::sin", "out"), "float32", "int32")).forward(np.zeros(4, np.float32))
    ours, _, theirs = str(raised.value).partition("; PyTorch: ")
    assert ours.startswith("operator aten::sin.out: ")
    assert "can't be cast" in theirs


def test_an_exception_is_told_and_the_program_runs_on() -> None:
    fails = [True]

    def moody(x: Any) -> Any:
        if fails:
            raise RuntimeError("not\ntoday")
        return x

    name = define("moody(Tensor x) -> Tensor", moody)
    loaded = served(unary((name[0], "out")))
    with pytest.raises(
        InvalidArgument, match=r"operator rushlight_fallback_test::moody\.out: PyTorch: not today"
    ):
        loaded.forward(np.ones(4, np.float32))
    fails.clear()
    np.testing.assert_array_equal(loaded.forward(np.ones(4, np.float32))[0], np.ones(4))


def test_ctrl_c_in_an_operator_reaches_the_caller() -> None:
    def stop(x: Any) -> Any:
        raise KeyboardInterrupt

    name = define("stop(Tensor x) -> Tensor", stop)
    with pytest.raises(KeyboardInterrupt):
        served(unary((name[0], "out"))).forward(np.ones(4, np.float32))


def test_an_operator_may_run_programs_itself() -> None:
    name = define("inner(Tensor x) -> Tensor", lambda x: x + 1)
    inside = served(unary((name[0], "out")))
    name = define("outer(Tensor x) -> Tensor", lambda x: inside.forward(x.clone())[0] * 2)
    [got] = served(unary((name[0], "out"))).forward(np.float32([1, 2, 3, 4]))
    np.testing.assert_array_equal(got, np.float32([4, 6, 8, 10]))


def test_threads_run_served_operators_at_once() -> None:
    name = define("shared(Tensor x) -> Tensor", lambda x: torch.sin(x) * 2)
    loaded = served(unary((name[0], "out")))
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        method = loaded.load_method("forward")
        given = torch.full((4,), float(seed))
        try:
            for _ in range(200):
                assert torch.equal(method(given)[0], torch.sin(given) * 2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert loaded.fallback_operators == {"rushlight_fallback_test::shared.out": 8 * 200}


def test_memory_that_a_call_reads_and_writes_is_written_last() -> None:
    def reversed_into(x: Any, *, out: Any) -> Any:
        for i in range(4):
            out[i] = x[3 - i]
        return out

    name = define("turn.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", reversed_into)
    data = one_call(name, [tensor("float32", (4,)), tensor("float32", (4,))], 1, [0])
    [got] = served(data).forward(np.float32([1, 2, 3, 4]))
    np.testing.assert_array_equal(got, np.float32([4, 3, 2, 1]))


def test_pytorch_computes_all_operators_that_it_has_on_request() -> None:
    needs_kernel("aten::sin.out")
    given = torch.linspace(-3, 3, 4)
    data = unary(("aten::sin", "out"))
    ours, first = served(data), served(data, "aten-first")
    assert torch.allclose(ours.forward(given)[0], torch.sin(given))
    assert ours.fallback_operators == {}
    assert torch.equal(first.forward(given)[0], torch.sin(given))
    assert first.fallback_operators == {"aten::sin.out": 1}


def test_an_operator_may_use_its_output_for_larger_results() -> None:
    values = [
        tensor("float32", (4,)),
        tensor("float32", (4,), offset=256),
        scalar(1),
        tensor("float32", (), offset=512),
    ]
    data = one_call(("aten::soft_margin_loss", "out"), values, 3, [0, 1])
    given = torch.randn(4), torch.ones(4)
    [got] = served(data, "aten-first").forward(*given)
    assert torch.equal(got, torch.nn.functional.soft_margin_loss(*given))


def test_lists_of_tensors_are_written() -> None:
    values = [
        tensor("float32", (2, 2)),
        scalar(0),
        tensors([3, 4]),
        tensor("float32", (2,), offset=256),
        tensor("float32", (2,), offset=512),
    ]
    plan = Plan(
        values=values,
        operators=[("aten::unbind_copy", "int_out")],
        calls=[(0, [0, 1, 2])],
        inputs=[0],
        outputs=[3, 4],
    )
    got = served(program(plan), "aten-first").forward(np.float32([[1, 2], [3, 4]]))
    np.testing.assert_array_equal(got, np.float32([[1, 2], [3, 4]]))


def test_files_are_out_of_reach() -> None:
    values = [string("/dev/null"), scalar(None), scalar(0), tensor("float32", (0,))]
    data = one_call(("aten::from_file", "out"), values, 3, [])
    with pytest.raises(OperatorNotFound):
        served(data).method("forward")


def test_methods_outlive_their_program() -> None:
    name = define("outlived(Tensor x) -> Tensor", lambda x: x + 1)
    method = served(unary((name[0], "out"))).load_method("forward")
    np.testing.assert_array_equal(method(np.zeros(4, np.float32))[0], np.ones(4))


def test_a_program_for_pytorch_is_refused_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency) as raised:
        served(unary(("aten::sin", "out")))
    assert raised.value.next_step == "pip install torch"
    assert raised.value.exit_code == 23


def test_other_fallbacks_are_refused() -> None:
    with pytest.raises(ValueError, match="fallback: expected None or one of aten, aten-first, got 'torch'"):
        served(unary(("aten::sin", "out")), "torch")


@pytest.mark.parametrize("sizes", [(3,), (2, 2)])
def test_hostile_arguments_are_refused_by_pytorch_or_the_runtime(sizes: tuple[int, ...]) -> None:
    """A number where the schema has a tensor, and a call that has too few arguments."""
    values = [scalar(1), tensor("float32", sizes)]
    with pytest.raises(InvalidProgram, match="argument 0 is a Int"):
        served(one_call(("aten::sin", "out"), values, 1, []), "aten-first").method("forward")
    with pytest.raises(InvalidProgram, match="expected 2 arguments, got 1"):
        served(one_call(("aten::sin", "out"), values[1:], 0, []), "aten-first").method("forward")
