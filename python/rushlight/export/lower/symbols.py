# SPDX-License-Identifier: BSD-3-Clause
"""Lowers arithmetic on symbolic sizes to prim operators."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch

# Python function to prim operator with the same arguments.
PRIM: dict[Callable[..., Any], str] = {
    operator.add: "add.Scalar",
    operator.sub: "sub.Scalar",
    operator.mul: "mul.Scalar",
    operator.floordiv: "floordiv.Scalar",
    operator.mod: "mod.Scalar",
    operator.truediv: "truediv.Scalar",
    operator.neg: "neg.Scalar",
    operator.eq: "eq.Scalar",
    operator.ne: "ne.Scalar",
    operator.lt: "lt.Scalar",
    operator.le: "le.Scalar",
    operator.gt: "gt.Scalar",
    operator.ge: "ge.Scalar",
    math.ceil: "ceil.Scalar",
    math.trunc: "trunc.Scalar",
    round: "round.Scalar",
    torch.sym_float: "sym_float.Scalar",
    torch.sym_int: "sym_int.Scalar",
    torch.sym_max: "sym_max.Scalar",
    torch.sym_min: "sym_min.Scalar",
    torch.sym_not: "sym_not.Scalar",
    torch.sym_ite: "sym_ite.Scalar",
    operator.not_: "sym_not.Scalar",
}


def prim_row(function: Any) -> str | None:
    """The prim operator for a Python function; None if there is none."""
    try:
        name = PRIM.get(function)
    except TypeError:
        return None
    return None if name is None else _prim(name)


def expanded(function: Any, arguments: list[Any]) -> list[tuple[str, list[Any]]] | None:
    """Expands a function without a prim operator to a list of (operator, arguments); `PREVIOUS` stands for
    the result of the previous step.

    None if the function cannot be expressed.
    """
    match function:
        case operator.and_:
            return [(_prim("sym_ite.Scalar"), [*arguments, False])]
        case operator.or_:
            return [(_prim("sym_ite.Scalar"), [arguments[0], True, arguments[1]])]
        case math.floor:
            return [(_prim("floordiv.Scalar"), [arguments[0], 1]), (_prim("sym_int.Scalar"), [PREVIOUS])]
        case operator.pos:
            return [(_prim("add.Scalar"), [arguments[0], 0])]
        case operator.pow | torch.ops.aten.pow.Scalar if isinstance(arguments[1], int) and arguments[1] > 0:
            base = arguments[0]
            steps = [(_prim("mul.Scalar"), [base, 1])]
            return steps + [(_prim("mul.Scalar"), [PREVIOUS, base])] * (arguments[1] - 1)
    return None


PREVIOUS = object()


def _prim(name: str) -> str:
    return f"executorch_prim::{name}"
