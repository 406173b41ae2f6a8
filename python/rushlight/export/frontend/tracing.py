# SPDX-License-Identifier: BSD-3-Clause
"""The models passed to `export`: grouped by method, and traced to the ATen dialect."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram

from rushlight.errors import ExportFailed, InvalidArgument
from rushlight.export.options import MethodSource, Options


def method_sources(
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    constants: Mapping[str, Any] | None,
) -> dict[str, MethodSource]:
    """The source of each method by name: one model, a mapping of several, plus methods that return constants.
    Errors: InvalidArgument."""
    sources = _of_models(module, args, kwargs, dynamic_shapes)
    sources.update({name: MethodSource(_Constant(value)) for name, value in (constants or {}).items()})
    return sources


def _of_models(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any
) -> dict[str, MethodSource]:
    if not isinstance(module, Mapping):
        if not isinstance(args, (tuple, list)):
            raise InvalidArgument(f"args: expected a tuple of example inputs, got {type(args).__name__}")
        return {"forward": MethodSource(module, tuple(args), dict(kwargs or {}), dynamic_shapes)}
    if not module:
        raise InvalidArgument("export: expected at least one method, got an empty mapping")
    if args or kwargs or dynamic_shapes:
        raise InvalidArgument(
            "export: expected the inputs of several methods in a MethodSource each, got args for all"
        )
    return {
        name: source if isinstance(source, MethodSource) else MethodSource(source)
        for name, source in module.items()
    }


class _Constant(torch.nn.Module):
    """A module without inputs that returns a constant."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def forward(self) -> Any:
        return self.value


def traced(source: MethodSource, options: Options) -> ExportedProgram:
    """The model in the ATen dialect; an ExportedProgram is returned as it is. Errors: ExportFailed with
    PyTorch's message; InvalidArgument for another type."""
    if isinstance(source.module, ExportedProgram):
        return source.module
    if not isinstance(source.module, torch.nn.Module):
        found = type(source.module).__name__
        raise InvalidArgument(f"export: expected a torch.nn.Module or an ExportedProgram, got {found}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return torch.export.export(
                source.module,
                source.args,
                dict(source.kwargs),
                dynamic_shapes=source.dynamic_shapes,
                strict=options.strict,
            )
    except Exception as error:
        raise ExportFailed(
            f"torch.export cannot trace the model: {error}",
            next_step="PyTorch's message names the line; rules: https://pytorch.org/docs/stable/export.html.",
        ) from error
