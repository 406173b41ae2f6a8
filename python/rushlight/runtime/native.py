# SPDX-License-Identifier: BSD-3-Clause
"""The native module, and its error codes as rushlight's exceptions."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rushlight import errors

# What to do about an invalid argument, by words of its message.
_NEXT_STEPS = {
    "not selected in this build": "Build with all dtypes, or export the model with one that it has.",
    "no data file was given": "Give the .ptd file that was written beside the program: data_files=[...].",
}


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
        raise exception(failure, module) from None


def exception(failure: Exception, module: ModuleType) -> errors.RushlightError:
    """The exception for a RuntimeFailure of the native module."""
    error = _exception(failure, module)
    if failed := re.search(r"^instruction (\d+) failed", failure.args[2], re.MULTILINE):
        error.instruction = int(failed[1])
    return error


def located(error: errors.RushlightError, path: str | None, method: str) -> errors.RushlightError:
    """The error, with the line of the model where a debug record beside the program tells it."""
    if path is not None and error.instruction is not None:
        # The only thing that this room takes from another one, and only when something has failed.
        from rushlight.program.debug import source_of

        if source := source_of(path, method, error.instruction):
            error.tell_source(source)
    return error


def _exception(failure: Exception, module: ModuleType) -> errors.RushlightError:
    code, name, message, index, names = failure.args
    operator = re.search(r"^operator (\S+): ", message, re.MULTILINE)
    if code in (0x12, 0x13):  # the rest says where it came through
        message = message.splitlines()[0]
        if operator and not message.startswith("operator "):
            message = f"operator {operator[1]}: {message}"
    text = f"{message} [{name}, {code:#x}]"
    if code == 0x14 and names:
        return errors.OperatorNotFound(
            {operator: ["the program"] for operator in names}, ["this build"], module.operator_names()
        )
    if code == 0x20 and names:
        return errors.BackendNotFound(names, module.backend_names())
    if code in (0x21, 0x25):
        return errors.OutOfMemory(text)
    if code in (0x10, 0x14, 0x23, 0x24):
        return errors.InvalidProgram(text)
    if code in (0x02, 0x12, 0x13, 0x20, 0x22):
        step = next((step for words, step in _NEXT_STEPS.items() if words in message), None)
        return errors.InvalidArgument(
            text, next_step=step, input=index, operator=operator[1] if operator else None
        )
    return errors.RushlightError(text)
