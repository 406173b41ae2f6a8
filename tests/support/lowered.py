# SPDX-License-Identifier: BSD-3-Clause
"""Lowered methods for tests, before their memory is planned."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

import rushlight
from rushlight.export import Exported, PassContext, export
from rushlight.export.frontend.decompositions import decomposition_table
from rushlight.export.lower.method import Placement, lower_method
from rushlight.export.pipeline import PassRunner, core_aten_passes
from rushlight.lowered.instructions import Call, LoweredMethod
from support.graphs import LIBRARY, Fn


def lower(function: Any, *args: Any, dynamic_shapes: Any = None, **tensors: torch.Tensor) -> LoweredMethod:
    """The lowered method of a function or module, before storages are joined."""
    module = function if isinstance(function, torch.nn.Module) else Fn(function, **tensors)
    if dynamic_shapes is not None and isinstance(module, Fn):
        dynamic_shapes = (tuple(dynamic_shapes),)
    program = torch.export.export(module.eval(), args, dynamic_shapes=dynamic_shapes, strict=False)
    program = program.run_decompositions(decomposition_table(LIBRARY))
    PassRunner(PassContext(LIBRARY)).run(core_aten_passes(), program)
    method, problems = lower_method(program, LIBRARY, "forward", Placement())
    assert problems == []
    return method


def rows(method: LoweredMethod) -> list[str]:
    """Names of the kernel calls in order."""
    return [instruction.row for instruction in method.code if isinstance(instruction, Call)]


def calls(method: LoweredMethod, row: str) -> list[Call]:
    """The calls of one row."""
    return [i for i in method.code if isinstance(i, Call) and i.row == row]


def run(exported: Exported, *calls_of_args: Sequence[Any]) -> list[list[Any]]:
    """The outputs of calls of the program's `forward`, made in order on one instance; arrays as tensors."""
    method = rushlight.load(exported.buffer).load_method("forward")
    results = []
    for args in calls_of_args:
        outputs = method.execute(tree_leaves(list(args)))
        results.append([torch.as_tensor(np.array(o)) if isinstance(o, np.ndarray) else o for o in outputs])
    return results


def check(module: Any, *calls_of_args: Sequence[Any], dynamic_shapes: Any = None, **options: Any) -> Exported:
    """Exports a module with the first call and compares all calls with PyTorch's, computed on a copy."""
    module = module if isinstance(module, torch.nn.Module) else Fn(module)
    if dynamic_shapes is not None and isinstance(module, Fn):
        dynamic_shapes = (tuple(dynamic_shapes),)
    eager = copy.deepcopy(module.eval())
    exported = export(
        module, copy.deepcopy(tuple(calls_of_args[0])), dynamic_shapes=dynamic_shapes, **options
    )
    found = run(exported, *copy.deepcopy(calls_of_args))
    for outputs, args in zip(found, calls_of_args, strict=True):
        expected = list(tree_leaves(eager(*args)))
        torch.testing.assert_close(outputs, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
    return exported
