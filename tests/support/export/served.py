# SPDX-License-Identifier: BSD-3-Clause
"""Calls of OpInfo for which kernels here lack an operator or a dtype: exported with fallback="aten", run with
PyTorch's kernels, and compared with eager PyTorch bit for bit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

import rushlight
from rushlight.errors import RushlightError
from rushlight.export.frontend.libraries import library_for
from rushlight.export.frontend.served import served_row
from rushlight.export.options import Options
from support.export.exported import compare_outputs, reason_of
from support.export.opinfo_modules import sample_modules
from support.export.verdicts import TOLERANCES, Sample
from support.opinfo.pairs import Pair

RESULTS = {
    "kernels": "kernels here have all of it",
    "equal": "computed by PyTorch, equal to eager bit for bit",
    "close": "computed by PyTorch, within the tolerance of kernels",
    "torch": "torch.export does not take it",
    "refused": "refused at export, with the reason",
    "fails": "loading or running it fails",
    "wrong": "other numbers",
    "no samples": "no input that eager PyTorch takes",
}


@dataclass
class Served:
    """The outcome for one pair: a key of RESULTS, the reason if it is not equal, and the operators that
    PyTorch computed."""

    result: str
    reason: str = ""
    operators: list[str] = field(default_factory=list)


class _WithoutComplexHalf(torch.nn.Module):
    """A module whose complex32 inputs and outputs are pairs of float16, because numpy has no complex32."""

    def __init__(self, module: torch.nn.Module, is_half: Sequence[bool]) -> None:
        super().__init__()
        self.module, self.is_half = module, is_half

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = zip(tensors, self.is_half, strict=True)
        results = self.module(*(torch.view_as_complex(t) if half else t for t, half in given))
        return tree_map_only(
            torch.Tensor,
            lambda t: torch.view_as_real(t.resolve_conj()) if t.dtype is torch.complex32 else t,
            results,
        )


def _adapted(sample: Sample) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    half = [tensor.dtype is torch.complex32 for tensor in sample.args]
    args = [
        torch.view_as_real(tensor.resolve_conj()).clone() if is_half else tensor
        for tensor, is_half in zip(sample.args, half, strict=True)
    ]
    return _WithoutComplexHalf(sample.module, half), tuple(args)


def judge_served(pair: Pair, count: int = 1, *, composite: bool = False) -> Served:
    """The outcome over the first `count` samples: the first that is not "kernels" or "equal".

    Looks for lacking operators among the calls of eager PyTorch; with `composite` also among operators that
    PyTorch composes of others, such as conv1d. They stay whole in the program.
    """
    found = Served("no samples")
    for sample in sample_modules(pair, count):
        module, args = _adapted(sample)
        try:
            outcome = _judge(module, args, sample, TOLERANCES.get(pair.dtype_name, 1e-4), composite)
        except Exception as error:
            outcome = Served("fails" if isinstance(error, RushlightError) else "torch", reason_of(error))
        if outcome.result not in ("kernels", "equal"):
            return outcome
        if found.result != "equal":
            found = outcome
    return found


def _judge(
    module: torch.nn.Module, args: tuple[Any, ...], sample: Sample, tolerance: float, composite: bool
) -> Served:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lacking = _in_program(module, args) if composite else _in_eager(module, args)
        if not lacking:
            return Served("kernels")
        try:
            exported = rushlight.export(module, args, fallback="aten", keep=lacking)
        except RushlightError as error:
            return Served("torch" if "torch.export" in str(error) else "refused", reason_of(error))
        expected = _eager(module, args)
    mixed = rushlight.load(exported.buffer, fallback="aten")
    results = _run(mixed, args)
    served = list(mixed.fallback_operators)
    if not served:
        return Served("kernels")
    if sample.judge is not None:
        try:
            sample.judge(results, expected)
        except AssertionError as error:
            return Served("wrong", reason_of(error), served)
        return Served("equal", "", served)
    comparison = compare_outputs(results, expected, tolerance)
    if not comparison.passed:
        return Served("wrong", comparison.reason, served)
    first = rushlight.load(exported.buffer, fallback="aten-first")
    if all(map(_equal, _run(first, args), expected)):
        return Served("equal", "", served)
    return Served("close", "eager takes another kernel", served)


class _Called(TorchDispatchMode):
    """Records the operators of eager calls that kernels lack."""

    def __init__(self) -> None:
        super().__init__()
        self.lacking: dict[OpOverload, None] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = function(*args, **(kwargs or {}))
        if is_lacking(function, [args, kwargs, results]):
            self.lacking[function] = None
        return results


def _in_eager(module: torch.nn.Module, args: tuple[Any, ...]) -> list[OpOverload]:
    with _Called() as called, torch.no_grad():
        module(*(tensor.clone() for tensor in args))
    return list(called.lacking)


def _in_program(module: torch.nn.Module, args: tuple[Any, ...]) -> list[OpOverload]:
    program = torch.export.export(module, args, strict=False).run_decompositions({})
    lacking = [
        node.target
        for node in program.graph.nodes
        if isinstance(node.target, OpOverload)
        and is_lacking(node.target, [each.meta.get("val") for each in (*node.all_input_nodes, node)])
    ]
    return list(dict.fromkeys(lacking))


def is_lacking(function: OpOverload, values: Any) -> bool:
    """True for a call that PyTorch can compute and kernels here cannot: its operator has no row, or its row
    lacks the dtypes."""
    library = library_for(Options())
    row = library.find(function)
    if row is None:
        return served_row(function) is not None
    dtypes = library.operators[row].dtypes | library.operators[row].index_dtypes
    tensors = [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]
    return not {str(tensor.dtype).removeprefix("torch.") for tensor in tensors} <= dtypes


def _eager(module: torch.nn.Module, args: tuple[Any, ...]) -> list[Any]:
    torch.default_generator.manual_seed(0)
    with torch.no_grad():
        return tree_leaves(module(*(tensor.clone() for tensor in args)))


def _run(program: Any, args: tuple[Any, ...]) -> list[Any]:
    torch.default_generator.manual_seed(0)
    given = [tensor.detach().resolve_conj().resolve_neg() for tensor in args]
    return [torch.as_tensor(value) for value in program.forward(*given)]


def _equal(got: torch.Tensor, expected: Any) -> bool:
    """True for the same dtype, shape and values; NaN equals NaN."""
    expected = torch.as_tensor(expected).resolve_conj()
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.is_complex():
        got, expected = torch.view_as_real(got), torch.view_as_real(expected)
    return torch.equal(got.isnan(), expected.isnan()) and torch.equal(
        got[~got.isnan()], expected[~got.isnan()]
    )
