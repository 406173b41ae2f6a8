# SPDX-License-Identifier: BSD-3-Clause
"""Test cases of a bundled program: inputs, and the model's outputs in PyTorch."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from rushlight.errors import InvalidArgument
from rushlight.export.lower.data import stored_bytes
from rushlight.export.lower.operands import dtype_name
from rushlight.export.options import MethodSource
from rushlight.export.quantized_io import MethodQuantization, Numbers
from rushlight.program import BundledCase, BundledSuite, BundledTensor
from rushlight.program.dim_order import row_major


def expected_suites(
    sources: Mapping[str, MethodSource], cases: Mapping[str, Sequence[Sequence[Any]]] | None
) -> list[BundledSuite]:
    """The cases of each method with their outputs, computed on a copy of its model.

    Errors: InvalidArgument for inputs and outputs that are neither tensors nor scalars.
    """
    suites = []
    for name, source in sources.items():
        module, args, kwargs = _callable(source)
        calls = [(args, kwargs)]
        if cases and name in cases:
            calls = [(list(inputs), {}) for inputs in cases[name]]
        made = [_case(module, positional, named, name) for positional, named in calls]
        suites.append(BundledSuite(name, tuple(made)))
    return suites


def with_quantized_io(source: MethodSource, numbers: MethodQuantization) -> MethodSource:
    """The source of a method with integer inputs and outputs: a module that takes and returns integers, with
    quantized example inputs."""
    if not numbers.inputs and not numbers.outputs:
        return source
    module, args, kwargs = _model(source)
    leaves, structure = tree_flatten((args, kwargs))
    leaves = [_quantize(leaf, numbers.inputs.get(position)) for position, leaf in enumerate(leaves)]
    args, kwargs = tree_unflatten(leaves, structure)
    return MethodSource(_QuantizedEnds(module, numbers), tuple(args), kwargs)


class _QuantizedEnds(torch.nn.Module):
    """A float model wrapped to take integer inputs and return integer outputs."""

    def __init__(self, model: Any, numbers: MethodQuantization) -> None:
        super().__init__()
        self.model, self.numbers = model, numbers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree_flatten((args, kwargs))
        inputs = [
            _dequantize(leaf, self.numbers.inputs.get(position)) for position, leaf in enumerate(leaves)
        ]
        args, kwargs = tree_unflatten(inputs, structure)
        leaves, structure = tree_flatten(self.model(*args, **kwargs))
        outputs = [
            _quantize(leaf, self.numbers.outputs.get(position)) for position, leaf in enumerate(leaves)
        ]
        return tree_unflatten(outputs, structure)


def _quantize(leaf: Any, to: Numbers | None) -> Any:
    """Quantizes as quantize_per_tensor does."""
    if to is None:
        return leaf
    steps = (leaf * (1.0 / to.scale)).round() + to.zero_point
    return steps.clamp(to.quant_min, to.quant_max).to(getattr(torch, to.dtype))


def _dequantize(leaf: Any, of: Numbers | None) -> Any:
    return leaf if of is None else (leaf.to(torch.float32) - of.zero_point) * of.scale


def _case(module: Any, args: list[Any], kwargs: dict[str, Any], name: str) -> BundledCase:
    inputs = [_value(leaf, f"{name}: input") for leaf in tree_leaves((args, kwargs))]
    with torch.no_grad():
        returned = module(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    outputs = [_value(leaf, f"{name}: output") for leaf in tree_leaves(returned)]
    return BundledCase(tuple(inputs), tuple(outputs))


def _callable(source: MethodSource) -> tuple[Any, list[Any], dict[str, Any]]:
    """A copy of the model, with its example inputs."""
    module, args, kwargs = _model(source)
    with warnings.catch_warnings():
        # torch's own TreeSpec warns about a deprecated check when it is copied.
        warnings.simplefilter("ignore", FutureWarning)
        return copy.deepcopy(module), args, kwargs


def _model(source: MethodSource) -> tuple[Any, list[Any], dict[str, Any]]:
    """The model with its example inputs."""
    if isinstance(source.module, ExportedProgram):
        args, kwargs = source.module.example_inputs or ((), {})
        return source.module.module(), list(args), dict(kwargs)
    return source.module, list(source.args), dict(source.kwargs)


def _value(leaf: Any, what: str) -> Any:
    if isinstance(leaf, (bool, int, float)):
        return leaf
    if not isinstance(leaf, torch.Tensor):
        raise InvalidArgument(f"{what}: expected a tensor or a number, got {type(leaf).__name__}")
    order = row_major(leaf.dim())
    data = stored_bytes(leaf, order).data
    return BundledTensor(dtype_name(leaf.dtype), tuple(leaf.shape), order, data)
