# SPDX-License-Identifier: BSD-3-Clause
"""The native module, and the conversion of its error codes to rushlight's exceptions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rushlight import errors
from rushlight.status import UNSUPPORTED_DTYPE, Status, kind_of


def default_module() -> ModuleType:
    """The module built with this package, with the kernels selected then."""
    try:
        return importlib.import_module("rushlight._runtime")
    except ImportError as error:
        raise errors.RushlightError(
            f"native runtime: expected an importable module, got {error}",
            next_step="Install rushlight again: pip install --force-reinstall --no-deps rushlight",
        ) from error


def call(module: ModuleType, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls `function(*arguments)`; a failure of the runtime is raised as the exception of its code."""
    try:
        return function(*arguments)
    except module.RuntimeFailure as failure:
        raise exception(failure, module) from None


def exception(failure: Exception, module: ModuleType) -> errors.RushlightError:
    """The exception for a RuntimeFailure of the native module."""
    error = _exception(failure, module)
    error.instruction = failure.args[5]
    return error


def located(error: errors.RushlightError, path: str | None, method: str) -> errors.RushlightError:
    """The error, with the model's source line if a debug record beside the program has it."""
    if path is not None and error.instruction is not None:
        # The only import from another package; it happens only after a failure.
        from rushlight.program.debug import source_of

        if source := source_of(path, method, error.instruction):
            error.tell_source(source)
    return error


def _exception(failure: Exception, module: ModuleType) -> errors.RushlightError:
    code, name, message, index, names, _, operator, position = failure.args
    if code in (Status.InvalidArgument, Status.InvalidType):  # the other lines tell the call path
        message = message.splitlines()[0]
        if operator and not message.startswith("operator "):
            message = f"operator {operator}: {message}"
    text = f"{message} [{name}, {code:#x}]"
    if code == Status.OperatorMissing and names:
        return errors.OperatorNotFound(
            {missing: ["the program"] for missing in names}, ["this build"], module.operator_names()
        )
    if code == Status.NotFound and names:
        return errors.BackendNotFound(names, module.backend_names())
    kind = kind_of(code) or errors.RushlightError
    if kind is not errors.InvalidArgument:
        return kind(text)
    error = errors.InvalidArgument(text, input=index, operator=operator)
    if position == UNSUPPORTED_DTYPE:
        error.tell_unsupported_dtype()
    return error
