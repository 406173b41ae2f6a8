# SPDX-License-Identifier: BSD-3-Clause
"""Exports a module, runs the program on our runtime, and on the official one if it has the operators, and
compares the outputs with PyTorch's eager outputs."""

from __future__ import annotations

import copy
import functools
import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import yaml
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only

import rushlight
from rushlight.errors import RushlightError
from rushlight.export.frontend.libraries import library_for
from rushlight.export.options import Options
from rushlight.program import Program, TensorInfo, Value, operator_uses, read_program
from rushlight.run.cases import Comparison, compare
from rushlight.runtime.arrays import as_array
from support.export import official_child
from support.export.isolated import Crashed, Hung, Isolated, Raised

TOLERANCE = 1e-4
"""t of tests/interop/README.md's rule for float32: t * max(1, max|expected|) + t * |expected|."""

Inputs = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments of a module's forward."""

Judge = Callable[[Sequence[Any], Sequence[Any]], None]
"""A function of outputs and expected outputs; raises AssertionError."""


class ExportMismatch(AssertionError):
    """A program that does not compute the module's outputs; `runtime` is the runtime that it ran on."""

    def __init__(self, runtime: str, call: int, reason: str) -> None:
        super().__init__(f"{runtime}, call {call}: {reason}")
        self.runtime, self.call, self.reason = runtime, call, reason

    def __reduce__(self) -> Any:
        return ExportMismatch, (self.runtime, self.call, self.reason)


@dataclass
class Checked:
    """A program with verified outputs.

    Attributes:
        exported: what rushlight.export returned.
        model: the program as read from the file's bytes.
        on_official: True if it ran on the official runtime, too.
        official_failure: the error there, if errors are allowed.
        comparisons: comparisons of our runtime's outputs, one for each call.
    """

    exported: Any
    model: Program
    on_official: bool
    official_failure: str
    comparisons: list[Comparison]

    @property
    def operators(self) -> frozenset[str]:
        """The names of the operators that the program calls."""
        return frozenset(operator_uses(self.model))


def check_export(
    module: torch.nn.Module,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    more: Sequence[Any] = (),
    tolerance: float = TOLERANCE,
    official: Literal["required", "reported", "skipped"] = "required",
    judge: Judge | None = None,
    **options: Any,
) -> Checked:
    """Export and run on `args` and `kwargs`, then on each entry of `more`, one after another on one loaded
    method (mutable buffers keep their state), and compare each call's outputs with eager's.

    Args:
        more: further inputs: tuples of positional arguments, or (args, kwargs) pairs as `Inputs`.
        tolerance: t of the rule of tests/interop/README.md.
        official: True if the program must also be right on the official runtime, if it has all of the
            operators; otherwise errors there are only reported.
        judge: raises AssertionError for wrong outputs; replaces the comparison.
        options: further options of rushlight.export.

    Errors: errors of rushlight.export and of the runtime; ExportMismatch.
    """
    calls = [(tuple(args), dict(kwargs or {})), *map(_as_inputs, more)]
    exported = export_quietly(copy.deepcopy(module), *_copied(calls[0]), dynamic_shapes, **options)
    expected = run_eagerly(module, calls)
    flat = [tree_leaves(_in_order(module, call)) for call in calls]
    model = read_program(bytes(exported.buffer))

    def judged(runtime: str, got: list[list[Any]]) -> list[Comparison]:
        pairs = enumerate(zip(got, expected, strict=True))
        return [_judged(runtime, i, *pair, tolerance, judge) for i, pair in pairs]

    comparisons = judged("our runtime", run_ours(exported.buffer, flat))
    # Programs for our runtime may have convolutions between dim orders, which the official runtime refuses.
    asked = options.get("runtime") == "executorch" or _is_row_major(model)
    on_official, failure = official != "skipped" and asked and is_official(model), ""
    if on_official:
        try:
            judged("the official runtime", run_officially(bytes(exported.buffer), flat))
        except (ExportMismatch, Crashed, Hung, Raised) as error:
            if official == "required":
                raise
            failure = reason_of(error)
    return Checked(exported, model, on_official, failure, comparisons)


def _is_row_major(model: Program) -> bool:
    tensors = [t for plan in model.plans for value in plan.values for t in plan.tensors_of(value)]
    return all(list(tensor.dim_order) == sorted(tensor.dim_order) for tensor in tensors)


def export_quietly(module: Any, args: Any, kwargs: Any, dynamic_shapes: Any = None, **options: Any) -> Any:
    """rushlight.export without torch's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rushlight.export(module, args, kwargs or None, dynamic_shapes, **options)


def run_eagerly(module: torch.nn.Module, calls: Sequence[Inputs]) -> list[list[Any]]:
    """The flattened outputs of a copy of the module, call by call."""
    module = copy.deepcopy(module)
    results = []
    with torch.no_grad():
        for call in calls:
            args, kwargs = _copied(call)
            results.append(tree_leaves(tree_map_only(torch.Tensor, torch.clone, module(*args, **kwargs))))
    return results


def run_ours(
    data: Any, calls: Sequence[Sequence[Any]], method: str = "forward", data_files: Sequence[Path] = ()
) -> list[list[Any]]:
    """The outputs of each call on one loaded method of our runtime."""
    loaded = rushlight.load(data, data_files=data_files).load_method(method)
    return [loaded.execute([_given(value) for value in call]) for call in calls]


def run_officially(
    data: bytes, calls: Sequence[Sequence[Any]], method: str = "forward", data_file: Path | None = None
) -> list[list[Any]]:
    """Likewise on the official runtime, in a separate process: it may end its process. Errors: as isolated.py
    raises them."""
    arrays = [[_row_major(_given(value)) for value in call] for call in calls]
    orders = [_dim_order(value) for value in _input_values(read_program(data), method)]
    outputs: list[list[Any]] = _official_process().call(data, arrays, orders, method, data_file, seconds=60)
    return outputs


def is_official(model: Program) -> bool:
    """True if the official runtime has all operators and backends of the program."""
    known = official_operators()
    delegates = any(method.delegates for method in model.plans)
    return not delegates and all(name in known for name in operator_uses(model))


@functools.cache
def official_operators() -> frozenset[str]:
    """The operators that programs for the official runtime may call; empty where it is not installed."""
    if importlib.util.find_spec("executorch") is None:
        return frozenset()
    return frozenset(library_for(Options(runtime="executorch")).operators)


def compare_outputs(got: Sequence[Any], expected: Sequence[Any], tolerance: float = TOLERANCE) -> Comparison:
    """rushlight.run.cases.compare of tensors or arrays; complex ones as pairs of floats."""
    return compare(*([_comparable(value) for value in values] for values in (got, expected)), tolerance)


def load_misses(path: Path) -> dict[str, dict[str, str]]:
    """A file of misses: for each kind of miss the reasons by name."""
    return {kind: names or {} for kind, names in (yaml.safe_load(path.read_text()) or {}).items()}


def reason_of(error: BaseException) -> str:
    """The kind of failure and its text, on one line."""
    text = " ".join(str(error).split())
    step = error.__class__.__name__
    return f"{step}: {text}" if isinstance(error, RushlightError) or step not in text else text


def _judged(
    runtime: str,
    call: int,
    got: Sequence[Any],
    expected: Sequence[Any],
    tolerance: float,
    judge: Judge | None,
) -> Comparison:
    if judge is not None:
        try:
            judge([_as_tensor(value) for value in got], expected)
        except AssertionError as error:
            raise ExportMismatch(runtime, call, " ".join(str(error).split())) from error
        return Comparison(0.0)
    comparison = compare_outputs(got, expected, tolerance)
    if not comparison.passed:
        raise ExportMismatch(runtime, call, comparison.reason)
    return comparison


def _as_inputs(call: Any) -> Inputs:
    is_pair = len(call) == 2 and isinstance(call[0], tuple) and isinstance(call[1], dict)
    return (call[0], call[1]) if is_pair else (tuple(call), {})


def _copied(call: Inputs) -> Inputs:
    args, kwargs = tree_map_only(torch.Tensor, _clone, call)
    return args, kwargs


def _clone(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, as far as it is dense."""
    return tensor.detach().clone()


def _in_order(module: torch.nn.Module, call: Inputs) -> Any:
    """Arguments as programs take them: keywords in the order of the call."""
    return tree_flatten(call)[0]


def _given(value: Any) -> Any:
    return as_array(value.detach().resolve_conj().resolve_neg()) if isinstance(value, torch.Tensor) else value


def _row_major(value: Any) -> Any:
    return np.array(value, order="C") if isinstance(value, np.ndarray) else value


def _input_values(model: Program, method: str) -> list[Value]:
    found = model.method(method)
    return [found.values[index] for index in found.inputs]


def _dim_order(value: Value) -> tuple[int, ...]:
    return value.data.dim_order if isinstance(value.data, TensorInfo) else ()


def _comparable(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.to(torch.complex64) if value.dtype == torch.complex32 else value  # unknown to numpy
        value = as_array(value.detach().resolve_conj().resolve_neg())
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return np.stack([value.real, value.imag])
    if isinstance(value, complex):
        return np.array([value.real, value.imag])
    return value


def _as_tensor(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)


@functools.cache
def _official_process() -> Isolated:
    return Isolated(official_child.run, official_child.prepare)
