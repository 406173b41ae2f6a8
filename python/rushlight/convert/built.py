# SPDX-License-Identifier: BSD-3-Clause
"""Converts a program for the kernels in a native module."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from rushlight.codegen.table import Operator
from rushlight.convert.api import convert
from rushlight.convert.files import own_operators
from rushlight.program import read_model
from rushlight.program.dtypes import NAMES
from rushlight.runtime import native


def converted_for(
    data: memoryview, module: ModuleType | None, data_files: Sequence[str | os.PathLike[str]] = ()
) -> bytes | None:
    """The converted program; None if nothing changes. Errors: InvalidProgram, MissingDependency."""
    done = convert(read_model(data), _operators(module), data_files=data_files)
    return done.buffer if done.is_changed else None


def _operators(module: ModuleType | None) -> Mapping[str, Operator]:
    """The rows of the operators in a module, restricted to its dtypes."""
    known = own_operators()
    if module is None:
        return known
    built = native.call(module, module.operator_dtypes)
    return {
        name: replace(known[name], dtypes=known[name].dtypes & {NAMES[number] for number in numbers})
        for name, numbers in built.items()
        if name in known
    }
