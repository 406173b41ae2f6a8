# SPDX-License-Identifier: BSD-3-Clause
"""Programs of unknown origin: loops, loading, memory and files that change stay within limits."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import rushlight
from rushlight import process
from rushlight.errors import InvalidArgument, InvalidProgram, OutOfMemory, RushlightError
from rushlight.program import Method, ProgramParts, TensorInfo, Value, write_program
from rushlight.program.model import Dynamism, KernelCall, Kind, Storage
from rushlight.run.case_stream import Report, decode_response, encode_request
from rushlight.runtime import Runtime
from rushlight.status import Status
from support.programs import Plan, jump_false, program, scalar, tensor

JUMP_TO_ITSELF = Path(__file__).parents[2] / "fuzz" / "regressions" / "program" / "jump_to_itself.pte"
ADD = ("aten::add", "out")
RUNNER = Path(os.environ.get("RUSHLIGHT_TEST_BUILD", "")) / "executor_runner"


def needs(*operators: str) -> pytest.MarkDecorator:
    missing = sorted(set(operators) - Runtime.get().operator_registry.operator_names)
    return pytest.mark.skipif(bool(missing), reason=f"this build does not have {', '.join(missing)}")


class Alarm(Exception):
    """Raised by the handler of a signal, as Ctrl-C raises KeyboardInterrupt."""


@contextmanager
def alarm(seconds: float, handler: object = None) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        if callable(handler):
            handler()
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- Loops ----


def endless(numel: int = 2) -> bytes:
    """Adds its input to itself, again and again."""
    plan = Plan(
        values=[
            tensor("float32", (numel,)),
            scalar(1),
            tensor("float32", (numel,), offset=4 * numel),
            scalar(False),
        ],
        operators=[ADD],
        calls=[(0, [0, 0, 1, 2]), jump_false(3, 0)],
        buffer_sizes=[0, 8 * numel],
        inputs=[0],
        outputs=[2],
    )
    return program(plan)


@needs("aten::add.out")
@pytest.mark.parametrize("numel", [2, 1 << 22])
def test_a_signal_ends_a_loop(numel: int) -> None:
    method = rushlight.load(endless(numel)).method("forward")
    started = time.process_time()
    with pytest.raises(Alarm), alarm(0.2):
        method.execute([np.ones(numel, np.float32)])
    assert time.process_time() - started < 5
    with pytest.raises(Alarm), alarm(0.2):  # the method is as good as before
        method.execute(None)


def product(size: int) -> bytes:
    """A square matrix times itself."""
    shape = (size, size)
    plan = Plan(
        values=[tensor("float32", shape), tensor("float32", shape, offset=4 * size * size)],
        operators=[("aten::mm", "out")],
        calls=[(0, [0, 0, 1])],
        buffer_sizes=[0, 8 * size * size],
        inputs=[0],
        outputs=[1],
    )
    return program(plan)


@needs("aten::mm.out")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_ends_a_long_kernel(threads: int) -> None:
    """The product would take 10 s and more."""
    size = 8192
    method = rushlight.load(product(size), threads=threads).method("forward")
    x = np.zeros((size, size), np.float32)
    started = time.process_time()
    with pytest.raises(Alarm), alarm(0.5):
        method.execute([x])
    assert time.process_time() - started < 5


@needs("aten::add.out")
def test_a_signal_ends_a_loop_while_another_thread_runs_one() -> None:
    loaded = rushlight.load(endless(), max_instructions=10_000_000)
    x = np.ones(2, np.float32)
    ended: list[RushlightError] = []

    def run() -> None:
        try:
            loaded.load_method("forward").execute([x])
        except RushlightError as error:
            ended.append(error)

    other = threading.Thread(target=run)
    method = loaded.load_method("forward")
    other.start()
    with pytest.raises(Alarm), alarm(0.1):
        method.execute([x])
    other.join()
    assert "budget" in str(ended[0])


@needs("aten::add.out")
@pytest.mark.parametrize("call", [lambda method: method.execute(None), lambda method: method.memory()])
def test_a_handler_that_waits_for_what_it_interrupted_is_refused(
    call: Callable[[rushlight.Method], object],
) -> None:
    method = rushlight.load(endless()).method("forward")
    with pytest.raises(RushlightError, match="signal handler"), alarm(0.2, lambda: call(method)):
        method.execute([np.ones(2, np.float32)])


@needs("aten::add.out")
def test_a_handler_that_returns_changes_nothing() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    method = rushlight.load(endless(), max_instructions=20_000_000).method("forward")
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        with pytest.raises(OutOfMemory, match="budget of 20000000"):
            method.execute([np.ones(2, np.float32)])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung


@needs("aten::add.out")
def test_a_call_may_run_so_many_instructions() -> None:
    method = rushlight.load(endless(), max_instructions=1000).method("forward")
    for _ in range(2):
        with pytest.raises(OutOfMemory, match="the budget of 1000 is exhausted"):
            method.execute([np.ones(2, np.float32)])


def test_a_jump_to_itself_is_refused() -> None:
    with pytest.raises(InvalidProgram, match="jump: to itself"):
        rushlight.load(JUMP_TO_ITSELF).method("forward")


@pytest.mark.parametrize("limit", ["max_instructions", "max_memory"])
@pytest.mark.parametrize("value", [0, -1, 1 << 64])
def test_limits_are_positive_numbers(limit: str, value: int) -> None:
    with pytest.raises(InvalidArgument, match=f"{limit}: expected"):
        rushlight.load(endless(), **{limit: value})  # type: ignore[arg-type]


# ---- Loading ----


def _tensor(sizes: tuple[int, ...], **storage: object) -> Value:
    order = tuple(range(len(sizes)))
    info = TensorInfo("float32", sizes, order, Dynamism.STATIC, **storage)  # type: ignore[arg-type]
    return Value(Kind.TENSOR, info)


def _written(
    values: list[Value], calls: list[KernelCall], operator: str, planned: int, **ends: object
) -> Method:
    return Method(
        name="forward",
        values=tuple(values),
        inputs=tuple(ends.get("inputs", ())),  # type: ignore[arg-type]
        outputs=tuple(ends.get("outputs", ())),  # type: ignore[arg-type]
        chains=(tuple(calls),),
        operators=(operator,),
        delegates=(),
        buffer_sizes=(0, planned),
    )


def copies_of_constants(count: int, step: int) -> bytes:
    """Each constant is copied, `step` bytes from the copy before."""
    values, calls = [], []
    for i in range(count):
        values.append(_tensor((4,), storage=Storage.CONSTANT, buffer_index=i + 1))
        values.append(_tensor((4,), storage=Storage.PLANNED, memory_id=1, memory_offset=step * i))
        calls.append(KernelCall(0, (2 * i, 2 * i + 1)))
    method = _written(values, calls, "aten::alias_copy.out", step * count + 16)
    constants = [struct.pack("<4f", i, 1, 2, 3) for i in range(count)]
    return write_program(ProgramParts((method,), constants)).tobytes()


def products_with_constants(
    count: int, weights: int, size: int = 4, rows: int = 1, *, planned_output: bool = True
) -> bytes:
    """linear() with `weights` constants of size x size in turn."""
    planned = 4 * rows * size
    behind = {"storage": Storage.PLANNED, "memory_id": 1, "memory_offset": planned}
    values = [
        _tensor((rows, size), storage=Storage.PLANNED, memory_id=1, memory_offset=0),
        _tensor((rows, size), **(behind if planned_output else {"storage": Storage.INPUT})),
        Value(Kind.NONE),
    ]
    for i in range(weights):
        values.append(_tensor((size, size), storage=Storage.CONSTANT, buffer_index=i + 1))
    calls = [KernelCall(0, (0, 3 + i % weights, 2, 1)) for i in range(count)]
    method = _written(values, calls, "aten::linear.out", 2 * planned, inputs=(0,), outputs=(1,))
    constants = [np.full((size, size), i, np.float32).tobytes() for i in range(weights)]
    return write_program(ProgramParts((method,), constants)).tobytes()


def seconds_to_load(data: bytes, optimize: bool = False) -> float:
    times = []
    for _ in range(3):
        started = time.process_time()
        rushlight.load(data, threads=1, optimize=optimize).load_method("forward")
        times.append(time.process_time() - started)
    return min(times)


@needs("aten::alias_copy.out")
@pytest.mark.parametrize("step", [16, 0, 4], ids=["apart", "same offset", "overlapping"])
def test_folding_takes_time_in_proportion(step: int) -> None:
    """0.04 s, where comparing each call with all others took 4 to 8."""
    data = copies_of_constants(8000, step)
    assert rushlight.load(data, optimize=False).load_method("forward").memory()["prepared"] > 0
    assert seconds_to_load(data) < 1
    assert seconds_to_load(data, optimize=True) < 1


# ---- Memory ----


@needs("aten::linear.out")
def test_one_constant_that_many_calls_pack_takes_its_memory_once() -> None:
    data = products_with_constants(1000, 1, 128)
    memory = rushlight.load(data).load_method("forward").memory()
    assert 0 < memory["prepared"] < 1 << 20


def rolled_constants(count: int, numel: int) -> bytes:
    """One constant, rolled by 0, 1, 2 ... elements: as many results, each as large as the constant."""
    values = [_tensor((numel,), storage=Storage.CONSTANT, buffer_index=1), Value(Kind.INT, 0)]
    values.append(Value(Kind.INT_LIST, (1,)))
    calls = []
    for i in range(count):
        at = len(values)
        values += [Value(Kind.INT, i), Value(Kind.INT_LIST, (at,))]
        values.append(_tensor((numel,), storage=Storage.PLANNED, memory_id=1, memory_offset=4 * numel * i))
        calls.append(KernelCall(0, (0, at + 1, 2, at + 2)))
    method = _written(values, calls, "aten::roll.out", 4 * numel * count)
    return write_program(ProgramParts((method,), [np.arange(numel, dtype=np.float32).tobytes()])).tobytes()


@needs("aten::roll.out")
def test_what_is_made_of_constants_is_in_proportion_to_them() -> None:
    few = rushlight.load(rolled_constants(4, 1 << 14)).load_method("forward").memory()
    many = rushlight.load(rolled_constants(200, 1 << 14)).load_method("forward").memory()
    assert few["prepared"] > 4 << 16
    assert few["prepared"] < many["prepared"] <= (16 << 16) + (1 << 20)  # instead of 200 << 16


@pytest.mark.skipif(not RUNNER.is_file(), reason="RUSHLIGHT_TEST_BUILD has no executor_runner")
def test_the_runner_packs_in_proportion_to_the_file(tmp_path: Path) -> None:
    model = rolled_constants(200, 1 << 14)
    (tmp_path / "model.pte").write_bytes(model)
    (tmp_path / "request").write_bytes(encode_request([("forward", [], [])]))
    words = [str(RUNNER), "--model_path=model.pte", "--inputs=request", "--outputs=response"]
    process.run(words, cwd=tmp_path, check=True)
    report, _ = decode_response((tmp_path / "response").read_bytes(), [[]])
    index = 16 * 200
    assert 4 << 16 < report.prepared_bytes <= 16 * len(model) + (1 << 20) + index


@needs("aten::add.out")
def test_planned_memory_is_limited() -> None:
    data = endless(1 << 18)
    with pytest.raises(OutOfMemory, match="memory: expected at most 1048576 bytes, needs 2097"):
        rushlight.load(data, max_memory=1 << 20).method("forward")
    rushlight.load(data, max_memory=3 << 20).method("forward")


@needs("aten::linear.out")
def test_weights_are_not_packed_beyond_the_limit_on_memory() -> None:
    data = products_with_constants(4, 4, 256)
    free = rushlight.load(data).load_method("forward")
    bound = rushlight.load(data, max_memory=400_000).load_method("forward")
    assert 0 < bound.memory()["prepared"] <= 400_000 < free.memory()["prepared"]
    x = np.arange(256, dtype=np.float32)[None]
    np.testing.assert_allclose(bound.execute([x])[0], free.execute([x])[0], rtol=1e-6)


def run_in_runner(folder: Path, model: bytes, inputs: list[np.ndarray], *options: str) -> Report | str:
    """Returns the runner's report, or its printed lines if it refuses for lack of memory."""
    (folder / "model.pte").write_bytes(model)
    (folder / "request").write_bytes(encode_request([("forward", inputs, [None] * len(inputs))]))
    words = [str(RUNNER), "--model_path=model.pte", "--inputs=request", "--outputs=response", *options]
    done = process.run(words, cwd=folder)
    if done.returncode == Status.MemoryAllocationFailed:
        return done.stdout + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    return decode_response((folder / "response").read_bytes(), [[None]])[0]


def least_memory(folder: Path, model: bytes, inputs: list[np.ndarray]) -> int:
    """The bytes that the runner needs before its kernels ask for any."""
    message = run_in_runner(folder, model, inputs, "--max_memory=1")
    assert isinstance(message, str)
    return int(message.split("at most 1 bytes, needs ")[1].split()[0])


@pytest.mark.skipif(not RUNNER.is_file(), reason="RUSHLIGHT_TEST_BUILD has no executor_runner")
def test_the_runner_packs_no_weights_where_outputs_need_the_memory(tmp_path: Path) -> None:
    rows, size = 1024, 16
    model = products_with_constants(16, 16, size, rows, planned_output=False)
    x, output = np.ones((rows, size), np.float32), 4 * rows * size
    least = least_memory(tmp_path, model, [x])
    tight = run_in_runner(tmp_path, model, [x], f"--max_memory={least + output}")
    free = run_in_runner(tmp_path, model, [x], f"--max_memory={least + output + (1 << 20)}")
    assert not isinstance(tight, str) and tight.prepared_bytes == 0
    assert not isinstance(free, str) and free.prepared_bytes > 16 * 4 * size * size
    refused = run_in_runner(tmp_path, model, [x], f"--max_memory={least + output - 1}")
    assert f"output 0 needs {output} bytes, {output - 1} are left" in str(refused)


@pytest.mark.skipif(not RUNNER.is_file(), reason="RUSHLIGHT_TEST_BUILD has no executor_runner")
def test_an_output_that_the_machine_has_no_memory_for_is_named(tmp_path: Path) -> None:
    plan = Plan(values=[tensor("float64", (1 << 15, 1 << 15), memory_id=0)], outputs=[0])
    (tmp_path / "model.pte").write_bytes(program(plan))
    limited = ["sh", "-c", 'ulimit -v 4000000; exec "$0" "$@"', str(RUNNER)]
    done = process.run([*limited, f"--model_path={tmp_path / 'model.pte'}"])
    assert done.returncode == Status.MemoryAllocationFailed
    assert f"output: no memory for {8 << 30} bytes" in done.stdout + done.stderr


@pytest.mark.skipif(not RUNNER.is_file(), reason="RUSHLIGHT_TEST_BUILD has no executor_runner")
def test_the_runner_counts_what_kernels_need_as_scratch(tmp_path: Path) -> None:
    model, x = product(512), np.ones((512, 512), np.float32)
    least = least_memory(tmp_path, model, [x])
    free = run_in_runner(tmp_path, model, [x])
    assert not isinstance(free, str) and free.scratch_bytes > 1 << 16
    needed = least + free.scratch_bytes
    fits = run_in_runner(tmp_path, model, [x], f"--max_memory={needed}")
    assert not isinstance(fits, str)
    refused = run_in_runner(tmp_path, model, [x], f"--max_memory={needed - 1}")
    assert f"at most {needed - 1} bytes, needs {needed}" in str(refused)


def repeating(outputs: int, values: int, numel: int) -> bytes:
    """A tensor, as many outputs; of `values` values in the same memory."""
    plan = Plan(
        values=[tensor("float32", (numel,)) for _ in range(values)],
        operators=[],
        calls=[],
        buffer_sizes=[0, 4 * numel],
        inputs=[0],
        outputs=[i % values for i in range(outputs)],
    )
    return program(plan)


def test_an_output_that_repeats_is_copied_once() -> None:
    x = np.arange(1 << 20, dtype=np.float32)
    outputs = rushlight.load(repeating(3000, 1, 1 << 20)).forward(x)
    assert len(outputs) == 3000 and len({id(out) for out in outputs}) == 1
    np.testing.assert_array_equal(outputs[-1], x)


def test_copies_of_outputs_that_share_memory_are_limited() -> None:
    x = np.arange(1 << 20, dtype=np.float32)
    method = rushlight.load(repeating(300, 300, 1 << 20)).method("forward")
    with pytest.raises(OutOfMemory, match=r"outputs: expected at most \d+ bytes of copies, got 1258291200"):
        method.execute([x])
    assert len(method.execute([x], outputs="view")) == 300
    small = rushlight.load(repeating(300, 300, 16)).forward(x[:16])
    assert len({out.ctypes.data for out in small}) == 300


# ---- Files ----


@needs("aten::linear.out")
@pytest.mark.parametrize("content", [b"", b"\xff" * 70000], ids=["empty", "other bytes"])
def test_a_mapped_file_that_is_overwritten_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(products_with_constants(4, 4, 64))
    loaded = rushlight.load(path)
    x = np.ones((1, 64), np.float32)
    method = loaded.method("forward")
    method.execute([x])
    path.write_bytes(content)
    for attempt in (lambda: method.execute([x]), lambda: loaded.load_method("forward")):
        with pytest.raises(InvalidArgument, match="was overwritten since it was loaded"):
            attempt()
    assert loaded.method_names == ["forward"]
    assert loaded.metadata("forward").num_inputs() == 1


@needs("aten::linear.out")
def test_a_program_that_is_saved_again_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    first, second = products_with_constants(3, 3, 64), products_with_constants(3, 2, 64)
    path.write_bytes(first)
    method = rushlight.load(path).method("forward")
    x = np.ones((1, 64), np.float32)
    [expected] = method.execute([x])
    replacement = tmp_path / "model.pte.new"
    replacement.write_bytes(second)
    replacement.replace(path)
    np.testing.assert_array_equal(method.execute([x])[0], expected)
    assert not np.array_equal(rushlight.load(path).forward(x)[0], expected)
