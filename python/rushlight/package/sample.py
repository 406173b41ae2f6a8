# SPDX-License-Identifier: BSD-3-Clause
"""The inputs of a package's example, and the model's outputs for them on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.codegen.bake.example import Sample, example_method, fits
from rushlight.errors import RushlightError
from rushlight.program import read_model
from rushlight.run.api import run
from rushlight.run.cases import Call, Case, case_of_ones
from rushlight.run.verify import ONES, case_for

_NORMAL = "normally distributed numbers"


def sample_of(model: Path, methods: Sequence[str], data_files: Sequence[Path]) -> Sample | str:
    """A sample for the method that examples run: the first of the model's own cases, or random values without
    cases. Returns the reason as text if there is no sample: this machine cannot run the model, or its
    outputs vary."""
    name = example_method(list(methods) or [plan.name for plan in read_model(model).plans])
    try:
        source, call = _call(model, name)
        case = Case(name, 0.0, [call], tuple(data_files))
        first, second = (run(model, case).calls[0].result.outputs for _ in range(2))
    except RushlightError as error:
        return error.message.splitlines()[0]
    outputs, again = _arrays(first), _arrays(second)
    if any(outputs[i].tobytes() != again[i].tobytes() for i in outputs):
        return "it gives other outputs each time"
    return Sample(name, source, _arrays(call.inputs), outputs)


def _arrays(values: Sequence[Any]) -> dict[int, np.ndarray]:
    """The arrays by position."""
    return {i: value for i, value in enumerate(values) if isinstance(value, np.ndarray)}


def _call(model: Path, name: str) -> tuple[str, Call]:
    """The source of the inputs, and the call. Inputs that are not tensors keep the values of the export: a
    baked program supports no others."""
    exported = case_of_ones(read_model(model), name).calls[0]
    source, cases = case_for(model)
    given = [call for case in cases for call in case.calls if call.method == name]
    only_tensors = all(isinstance(value, np.ndarray) for value in exported.inputs)
    if source == ONES or not given or not only_tensors:
        random = np.random.default_rng(1)
        return _NORMAL, replace(exported, inputs=[_drawn(value, random) for value in exported.inputs])
    arrays = [np.asarray(value) for value in given[0].inputs]
    return f"the first case of {source}", Call(name, [fits(array) for array in arrays], None)


def _drawn(ones: Any, random: np.random.Generator) -> Any:
    """Random values in place of ones; integers stay unchanged, since they may be indices."""
    if not isinstance(ones, np.ndarray) or ones.dtype.kind not in "fV":
        return ones
    return fits(np.asarray(random.standard_normal(ones.shape)).astype(ones.dtype))
