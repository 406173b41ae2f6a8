# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were read and written again run here and on the official runtime as before."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rushlight
from rushlight.errors import InvalidProgram
from rushlight.program import (
    BundledSuite,
    Method,
    ProgramParts,
    Storage,
    TensorInfo,
    Value,
    bundled_case,
    operator_uses,
    parts_of,
    read_bundled_program,
    read_data_file,
    read_program,
    write_bundled_program,
    write_data_file,
    write_program,
)
from rushlight.program.model import Dynamism, KernelCall, Kind
from rushlight.run.cases import Call, compare, load_case
from rushlight.runtime import Runtime
from support.drawn_programs import parts

INTEROP = Path(__file__).parents[1] / "interop"
PROGRAMS = sorted(
    str(path.relative_to(INTEROP))
    for path in INTEROP.glob("*/*.pte")
    if (path.parent / "case.json").is_file()
)
WITH_DATA_FILE = "external_ptd/model.pte"

pytestmark = pytest.mark.conformance


def rewritten(name: str, folder: Path) -> Path:
    """The program of that name, read and written."""
    path = folder / "model.pte"
    write_program(parts_of(read_program(INTEROP / name))).save(path)
    return path


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_what_pytorch_gives(name: str, tmp_path: Path) -> None:
    program = read_program(INTEROP / name)
    registry = Runtime.get()
    unselected = set(operator_uses(program)) - registry.operator_registry.operator_names
    backends = {delegate.id for method in program.plans for delegate in method.delegates}
    unselected |= backends - set(registry.backend_registry.registered_backend_names)
    if unselected:
        pytest.skip(f"this build does not have {', '.join(sorted(unselected))}")
    case = load_case(INTEROP / Path(name).with_name("case.json"))
    again = rushlight.load(rewritten(name, tmp_path), data_files=case.data_files)
    for call in case.calls:
        assert call.expected is not None
        comparison = compare(again.run(call.method, call.inputs), call.expected, case.tolerance)
        assert comparison.passed, comparison.reason


def is_of_boards(name: str) -> bool:
    """True if a program has operators that the official package provides for boards only."""
    return any(each.startswith("cortex_m::") for each in operator_uses(read_program(INTEROP / name)))


@pytest.mark.parametrize(
    "name", [name for name in PROGRAMS if name != WITH_DATA_FILE and not is_of_boards(name)]
)
def test_the_official_runtime_gives_the_same_of_both(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    theirs = official()
    case = load_case(INTEROP / Path(name).with_name("case.json"))
    try:
        original = theirs.load_program(INTEROP / name)
    except RuntimeError as error:
        pytest.skip(f"the official runtime refuses the original: {error}")
    again = theirs.load_program(rewritten(name, tmp_path))
    assert again.method_names == original.method_names
    for method, calls in by_method(case.calls).items():
        before, after = original.load_method(method), again.load_method(method)
        for call in calls:
            inputs = [as_torch(torch, value) for value in call.inputs]
            for old, new in zip(before.execute(inputs), after.execute(inputs), strict=True):
                if isinstance(old, torch.Tensor):
                    assert torch.equal(old.nan_to_num(), new.nan_to_num()) and old.dtype == new.dtype
                else:
                    assert old == new


def counter() -> ProgramParts:
    """state += step; the initial state is data of the file, and the sum is the output."""

    def vector(storage: Storage, **fields: Any) -> Value:
        return Value(Kind.TENSOR, TensorInfo("float32", (3,), (0,), Dynamism.STATIC, storage, **fields))

    values = (
        vector(Storage.MUTABLE, buffer_index=2, memory_id=1, memory_offset=16, name="state"),
        vector(Storage.INPUT),
        Value(Kind.INT, 1),
        vector(Storage.PLANNED, memory_id=1, memory_offset=32),
        Value(Kind.BOOL, False),
    )
    calls = (KernelCall(0, (0, 1, 2, 3, 3)), KernelCall(1, (0, 3, 4, 0, 0)))
    method = Method(
        name="forward",
        values=values,
        inputs=(1,),
        outputs=(3,),
        chains=(calls,),
        operators=("aten::add.out", "aten::copy.out"),
        delegates=(),
        buffer_sizes=(0, 48),
    )
    return ProgramParts((method,), mutable=[b"unused", np.float32([1, 2, 3])])


def test_initial_state_is_there_for_both_runtimes(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    write_program(counter()).save(path)
    step = np.float32([10, 20, 30])
    program = rushlight.load(path)
    for expected in ([11, 22, 33], [21, 42, 63]):
        assert program.forward(step)[0].tolist() == expected
    torch = pytest.importorskip("torch", reason="torch is not installed")
    theirs = official().load_program(path).load_method("forward")
    for expected in ([11, 22, 33], [21, 42, 63]):
        assert theirs.execute([torch.from_numpy(step)])[0].tolist() == expected


@settings(max_examples=50, deadline=None)
@given(parts(planned=2 << 20))
def test_any_written_program_is_verified_by_both_runtimes(original: ProgramParts) -> None:
    data = write_program(original).tobytes()
    names = [method.name for method in original.methods]
    # The runtimes end names at the first zero byte.
    expected = [name.partition("\0")[0] for name in names]
    try:
        assert rushlight.load(data).method_names == expected
    except InvalidProgram as error:
        assert "\0" in "".join(names) or "jump" in error.message, error
    pytest.importorskip("torch", reason="torch is not installed")
    theirs = official().load_program(data, verification=verification().InternalConsistency)
    assert theirs.method_names == set(expected)


def test_data_files_serve_both_runtimes(tmp_path: Path) -> None:
    folder = INTEROP / "external_ptd"
    path, weights = rewritten(WITH_DATA_FILE, tmp_path), tmp_path / "weights.ptd"
    write_data_file(read_data_file(folder / "weights.ptd").entries).save(weights)
    (call,) = load_case(folder / "case.json").calls
    expected = rushlight.load(folder / "model.pte", data_files=[folder / "weights.ptd"]).forward(*call.inputs)
    assert np.array_equal(rushlight.load(path, data_files=[weights]).forward(*call.inputs)[0], expected[0])
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module = portable_lib()._load_for_executorch(str(path), str(weights))
    (output,) = module.forward([as_torch(torch, value) for value in call.inputs])
    assert np.allclose(output.numpy(), expected[0], atol=1e-5)


@pytest.mark.parametrize("shift", [0, 1])
def test_bundled_programs_are_judged_by_both_runtimes(tmp_path: Path, shift: int) -> None:
    original = read_bundled_program(INTEROP / "bundled" / "model.bpte")
    (suite,) = original.suites
    cases = tuple(
        bundled_case([v.array() for v in case.inputs], [v.array() + shift for v in case.outputs])
        for case in suite.cases
    )
    path = tmp_path / "model.bpte"
    program = write_program(parts_of(read_program(original.program)))
    write_bundled_program(program, [BundledSuite("forward", cases)]).save(path)
    passes = shift == 0
    assert {call.comparison.passed for call in rushlight.verify_bundled_program(path).calls} == {passes}
    module = portable_lib()._load_bundled_program_from_buffer(path.read_bytes())
    for index in range(len(cases)):
        assert verified(module, index) is passes


def verified(module: Any, index: int) -> bool:
    """True if the official runtime accepts the outputs of a case."""
    try:
        module.verify_result_with_bundled_expected_output("forward", index, 1e-5, 1e-5)
    except RuntimeError:
        return False
    return True


def portable_lib() -> Any:
    """The official runtime's Python module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("executorch.extension.pybindings.portable_lib")


def verification() -> Any:
    """The official runtime's levels of verification."""
    return pytest.importorskip("executorch.runtime").Verification


def official() -> Any:
    """The official runtime, with its operators for quantized and language models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pytest.importorskip("executorch.runtime", reason="executorch is not installed")
        pytest.importorskip("executorch.kernels.quantized")
        pytest.importorskip("executorch.extension.llm.custom_ops.custom_ops")
    return theirs.Runtime.get()


def by_method(calls: list[Call]) -> dict[str, list[Call]]:
    """The calls of each method, in order."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        found.setdefault(call.method, []).append(call)
    return found


def as_torch(torch: Any, value: Any) -> Any:
    """An array as a tensor; anything else as it is."""
    if not hasattr(value, "dtype"):
        return value
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view("int16").copy()).view(torch.bfloat16)
    return torch.from_numpy(value.copy())
