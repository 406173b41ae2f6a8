# SPDX-License-Identifier: BSD-3-Clause
"""Cases: calls of methods with expected outputs, from a case.json with its tensors.npz, or other sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import ml_dtypes
import numpy as np

from rushlight.documents import read_json
from rushlight.errors import InvalidArgument
from rushlight.files import write_text, writing
from rushlight.program import Program, TensorInfo, read_program
from rushlight.program.bundled import BundledTensor, BundledValue, read_bundled_program
from rushlight.run.steps import output_steps


@dataclass(frozen=True)
class Call:
    """One call of a method: inputs, and the expected outputs (None: unknown).

    `steps` allows each output an extra absolute difference, integers too: see steps.py. Empty: none.
    """

    method: str
    inputs: list[Any]
    expected: list[Any] | None
    steps: tuple[float, ...] = ()


DTYPE_TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 1.6e-2),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}
"""(relative, absolute) defaults by dtype: the values of torch.testing.assert_close, with an absolute part of
one unit in the last place for 16-bit floats. runtime/bundled/bundled_method.cpp has the same rows."""


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of a float from its expected value: absolute + relative × |expected|. With
    `scaled` the absolute part grows with the tensor: absolute × max(1, max|expected|). A part that is None
    comes from DTYPE_TOLERANCES by the output's dtype; its absolute part is scaled, since rounding errors
    of sums grow with the values.
    """

    relative: float | None = None
    absolute: float | None = None
    scaled: bool = False

    @classmethod
    def given(cls, relative: float | None, absolute: float | None) -> Tolerance:
        """A caller's tolerance. Error: InvalidArgument for a negative part or NaN."""
        for name, part in (("relative", relative), ("absolute", absolute)):
            if part is not None and not part >= 0:
                raise InvalidArgument(f"{name} tolerance: expected 0 or more, got {part}")
        return cls(relative, absolute)

    def allowed(self, magnitude: np.ndarray, dtype: str) -> np.ndarray:
        """The allowed difference per element; `magnitude` is |expected|, `dtype` the output's dtype."""
        relative, absolute = DTYPE_TOLERANCES[dtype]
        scale = max(1.0, float(magnitude.max())) if self.scaled or self.absolute is None else 1.0
        if self.relative is not None:
            relative = self.relative
        if self.absolute is not None:
            absolute = self.absolute
        return absolute * scale + relative * magnitude


BY_DTYPE = Tolerance()
"""The default tolerance of bundled programs, whose format stores none."""


@dataclass(frozen=True)
class Case:
    """Calls in order, and the tolerance for their outputs: a number t means t × max(1, max|expected|) + t ×
    |expected|. Calls of one method share its state, unless `fresh_methods` gives each call a new instance.
    `data_files` hold the program's external tensors."""

    name: str
    tolerance: float | Tolerance
    calls: list[Call]
    data_files: tuple[Path, ...] = ()
    fresh_methods: bool = False

    def held_to(self, tolerance: Tolerance) -> Case:
        """The case with a caller's tolerance, without quantization steps."""
        calls = [replace(call, steps=()) for call in self.calls]
        return replace(self, tolerance=tolerance, calls=calls)


@dataclass(frozen=True)
class Comparison:
    """The difference between a call's outputs and the expected ones.

    `max_error` is the largest absolute difference; `reason` describes a failure and is empty on success.
    """

    max_error: float
    reason: str = ""

    @property
    def passed(self) -> bool:
        return not self.reason


def load_case(path: Path, method: str | None = None) -> Case:
    """Reads a case.json; `method` keeps only the calls of this method.

    Errors: InvalidArgument for a file that is missing or not a case.
    """
    try:
        described = read_json(path, what="case")
        arrays = np.load(path.with_name("tensors.npz"))
        calls = [
            Call(
                name,
                [_value(v, arrays) for v in call["inputs"]],
                [_value(v, arrays) for v in call["outputs"]],
            )
            for name, listed in described["methods"].items()
            if method in (None, name)
            for call in listed
        ]
        case = Case(
            described.get("name", path.parent.name),
            float(described["tolerance"]),
            calls,
            tuple(path.with_name(name) for name in described.get("files", ()) if name.endswith(".ptd")),
        )
    except FileNotFoundError as error:
        raise InvalidArgument(f"case {path}: expected the file {error.filename}, got none") from error
    except (KeyError, TypeError, ValueError, AttributeError, EOFError, BadZipFile) as error:
        raise InvalidArgument(f"case {path}: expected a case, got {type(error).__name__}: {error}") from error
    if not case.calls:
        raise InvalidArgument(
            f"case {path}: expected calls" + (f" to method '{method}', got none" if method else ", got none")
        )
    return case


def save_case(path: Path, case: Case, **facts: object) -> None:
    """Writes a case.json and its tensors.npz in the form that load_case reads. `facts` are further entries of
    the JSON file: labels, or the program that computed the expected outputs.

    Errors: FileFailed; InvalidArgument for a case without expected outputs or with a Tolerance object.
    """
    if isinstance(case.tolerance, Tolerance):
        raise InvalidArgument("case: expected a number as tolerance, got a Tolerance")
    arrays: dict[str, Any] = {}
    methods: dict[str, list[dict[str, Any]]] = {}
    for call in case.calls:
        listed = methods.setdefault(call.method, [])
        if call.expected is None:
            raise InvalidArgument(f"case: call {len(listed)} of '{call.method}': expected outputs, got None")
        name = f"{call.method}.{len(listed)}"
        inputs = [_described(f"{name}.input{i}", value, arrays) for i, value in enumerate(call.inputs)]
        outputs = [_described(f"{name}.output{i}", value, arrays) for i, value in enumerate(call.expected)]
        listed.append({"inputs": inputs, "outputs": outputs})
    files = [file.name for file in case.data_files]
    described = {"name": case.name, "tolerance": case.tolerance, "files": files, **facts, "methods": methods}
    with writing(path.with_name("tensors.npz")) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    write_text(path, json.dumps(described) + "\n")


def bundled_case(path: Path, method: str | None = None, tolerance: Tolerance = BY_DTYPE) -> Case:
    """All cases of a bundled program, or the cases of one method; each runs on a new instance of its method.
    Outputs of quantized methods may differ by the steps of output_steps(), unless the caller gives a
    tolerance.

    Errors: InvalidArgument for a file without cases, InvalidProgram for a damaged one.
    """
    bundle = read_bundled_program(path)
    steps = output_steps(read_program(bundle.program)) if tolerance == BY_DTYPE else {}
    calls = [
        Call(suite.method, _arrays(case.inputs), _arrays(case.outputs) or None, steps.get(suite.method, ()))
        for suite in bundle.suites
        if method in (None, suite.method)
        for case in suite.cases
    ]
    if not calls:
        raise InvalidArgument(
            f"bundled program {path}: expected cases"
            + (f" of '{method}', got none" if method else ", got none")
        )
    return Case(path.stem, tolerance, calls, fresh_methods=True)


def _arrays(values: Sequence[BundledValue]) -> list[Any]:
    return [value.array() if isinstance(value, BundledTensor) else value for value in values]


def case_of_ones(program: Program, method: str) -> Case:
    """One call of `method` with inputs of ones, at the upper bounds of its shapes; numbers as exported.
    Error: MethodNotFound."""
    plan = program.method(method)
    inputs = [plan.values[index].data for index in plan.inputs]
    return Case(method, 0.0, [Call(method, [_ones(data) for data in inputs], None)])


def cases_of_ones(program: Program) -> list[Case]:
    """As case_of_ones, for each method."""
    return [case_of_ones(program, plan.name) for plan in program.plans]


def _ones(data: Any) -> Any:
    return np.ones(data.sizes, np.dtype(data.dtype)) if isinstance(data, TensorInfo) else data


def load_npz(path: Path, method: str) -> Case:
    """A case of one call without expected outputs; its inputs are the arrays of an .npz in file order."""
    try:
        arrays = np.load(path)
        return Case(path.stem, 0.0, [Call(method, [arrays[key] for key in arrays.files], None)])
    except FileNotFoundError as error:
        raise InvalidArgument(f"inputs {path}: no such file") from error
    except (ValueError, OSError, AttributeError) as error:
        raise InvalidArgument(f"inputs {path}: expected an .npz file, got {error}") from error


def _value(described: dict[str, Any], arrays: Any) -> Any:
    if "value" in described:
        return described["value"]
    array = arrays[described["key"]]
    if described["dtype"] == "bfloat16":  # stored as its bits
        array = array.view(ml_dtypes.bfloat16)
    if array.dtype.name != described["dtype"]:
        raise ValueError(f"{described['key']}: expected {described['dtype']}, stored as {array.dtype.name}")
    return array.reshape(described["shape"])


def _described(key: str, value: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """The inverse of _value; adds an array to `arrays`."""
    if not isinstance(value, np.ndarray):
        return {"value": value}
    is_bfloat16 = value.dtype == ml_dtypes.bfloat16
    arrays[key] = value.view(np.uint16) if is_bfloat16 else value
    return {"key": key, "dtype": value.dtype.name, "shape": list(value.shape)}


def compare(
    outputs: Sequence[Any],
    expected: Sequence[Any],
    tolerance: float | Tolerance,
    steps: Sequence[float] = (),
) -> Comparison:
    """Compares a call's outputs: counts, shapes and dtypes must be equal, integers and bools exact, floats
    within the tolerance, NaN and infinities equal. A number t as tolerance allows t × max(1,
    max|expected|) + t × |expected|. `steps` adds an absolute difference for each output, integers
    included; empty adds none."""
    if not isinstance(tolerance, Tolerance):
        tolerance = Tolerance(tolerance, tolerance, scaled=True)
    if len(outputs) != len(expected):
        return Comparison(float("nan"), f"{len(expected)} outputs expected, got {len(outputs)}")
    worst = 0.0
    for index, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        one = _compare_one(got, want, tolerance, steps[index] if index < len(steps) else 0.0)
        if not one.passed:
            return Comparison(one.max_error, f"output {index}: {one.reason}")
        worst = max(worst, one.max_error)
    return Comparison(worst)


def _compare_one(got: Any, want: Any, tolerance: Tolerance, step: float) -> Comparison:
    if want is None or got is None or isinstance(want, str):
        return Comparison(0.0, "" if got == want else f"expected {want}, got {got}")
    if not isinstance(want, np.ndarray):
        # A number may be returned as a number or as a tensor of one element.
        if isinstance(want, (bool, int)):
            same = np.asarray(got).size == 1 and np.asarray(got).item() == want
            return Comparison(0.0) if same else Comparison(1.0, f"expected {want}, got {got}")
        # Programs mostly compute floats in float32.
        got, want = np.asarray(got, dtype=np.float64).reshape(()), np.asarray(want, dtype=np.float64)
        return _compare_floats(got, want, tolerance, "float32", step)
    got = np.asarray(got)
    if got.shape != want.shape:
        return Comparison(float("nan"), f"expected shape {list(want.shape)}, got {list(got.shape)}")
    if got.dtype != want.dtype:
        return Comparison(float("nan"), f"expected dtype {want.dtype.name}, got {got.dtype.name}")
    if want.size == 0:
        return Comparison(0.0)
    if want.dtype.kind in "biu":
        return _compare_integers(got, want, step)
    if want.dtype.kind == "c":
        got, want = _parts(got), _parts(want)
    return _compare_floats(got.astype(np.float64), want.astype(np.float64), tolerance, want.dtype.name, step)


def _parts(values: np.ndarray) -> np.ndarray:
    """Real and imaginary parts of complex values in a last dimension of 2."""
    return np.stack([values.real, values.imag], axis=-1)


def _compare_integers(got: np.ndarray, want: np.ndarray, step: float) -> Comparison:
    if step == 0:
        wrong = int(np.count_nonzero(got != want))
        return Comparison(float(wrong > 0), f"{wrong} of {want.size} elements differ" if wrong else "")
    error = np.abs(got.astype(np.float64) - want.astype(np.float64))
    wrong = int(np.count_nonzero(error > step))
    reason = f"{wrong} of {want.size} elements differ by more than {step:g}" if wrong else ""
    return Comparison(float(error.max()), reason)


def _compare_floats(
    got: np.ndarray, want: np.ndarray, tolerance: Tolerance, dtype: str, step: float
) -> Comparison:
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    finite = np.isfinite(got) & np.isfinite(want)
    if not np.all(same | finite):
        return Comparison(float("inf"), "NaN or infinity on one side only")
    error = np.where(same, 0.0, np.abs(np.where(finite, got, 0) - np.where(finite, want, 0)))
    magnitude = np.abs(np.where(np.isfinite(want), want, 0))
    allowed = tolerance.allowed(magnitude, dtype) + step
    largest = float(error.max())
    if np.any(error > allowed):
        at = np.unravel_index(int(np.argmax(error - allowed)), want.shape)
        where = [int(i) for i in at]
        return Comparison(
            largest,
            f"at {where}: expected {want[at]:g}, got {got[at]:g}, allowed to differ by {allowed[at]:g}",
        )
    return Comparison(largest)
