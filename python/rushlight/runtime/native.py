# SPDX-License-Identifier: BSD-3-Clause
"""The native module, and its error codes as rushlight's exceptions."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rushlight import errors


def default_module() -> ModuleType:
    """The module that was built with this package, with the kernels selected then."""
    try:
        return importlib.import_module("rushlight._runtime")
    except ImportError as error:
        raise errors.RushlightError(
            f"the native runtime cannot be imported: {error}",
            next_step="Install rushlight again: pip install --force-reinstall --no-deps rushlight",
        ) from error


def call(module: ModuleType, function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)`; a failure of the runtime is raised as the exception of its code."""
    try:
        return function(*arguments)
    except module.RuntimeFailure as failure:
        code, name, message = failure.args
        raise _exception(code, name, message, module) from None


def _exception(code: int, name: str, message: str, module: ModuleType) -> errors.RushlightError:
    text = f"{message.splitlines()[0] if code in (0x12, 0x13) else message} [{name}, {code:#x}]"
    if code == 0x14:
        missing = re.findall(r"^operator (\S+): no library", message, re.MULTILINE)
        names = [name.removesuffix(".") for name in missing]
        return errors.OperatorNotFound(
            {operator: ["the program"] for operator in names}, ["this build"], module.operator_names()
        )
    if code == 0x20:
        backend = re.search(r"^delegate (\S+):", message, re.MULTILINE)
        if backend:
            return errors.BackendNotFound(backend.group(1), [])
    if code in (0x21, 0x25):
        return errors.OutOfMemory(text)
    if code in (0x23, 0x24, 0x10):
        return errors.InvalidProgram(text)
    if code in (0x02, 0x12, 0x13, 0x20, 0x22):
        return errors.InvalidArgument(text)
    return errors.RushlightError(text)
