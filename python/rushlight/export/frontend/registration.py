# SPDX-License-Identifier: BSD-3-Clause
"""Registers the operators of kernel libraries with PyTorch, which must happen before a model that calls them
is executed or exported."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from rushlight.codegen.table import Operator
from rushlight.errors import InvalidSelection
from rushlight.export.frontend.custom_operators import custom_rows

REFERENCE = "reference.py"
"""The file in a library's folder with a PyTorch implementation of each operator."""

_libraries: dict[str, torch.library.Library] = {}


def register_custom_operators(folders: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Defines the operators of kernel libraries in PyTorch as torch.ops.<namespace>.<name>, with the out
    overload. An operator that PyTorch already knows is left alone.

    Args:
        folders: folders of kernel libraries with a `reference.py`. Folders without one, and the other
            values that `custom_ops` of `rushlight.export` accepts, are skipped.

    Returns the names of the newly defined operators.

    Errors: InvalidSelection naming the operator whose function is missing in the file.
    """
    defined = []
    for folder in folders:
        path = Path(os.fspath(folder))
        path = path.parent if path.suffix in (".yaml", ".yml") else path
        if not (path / REFERENCE).is_file():
            continue
        unknown = [row for row in custom_rows([folder]) if not _is_known(row)]
        module = _load(path / REFERENCE) if unknown else None
        for row in unknown:
            _define(row, _function(module, row, path))
            defined.append(row.name)
    return defined


def _is_known(row: Operator) -> bool:
    namespace, _, name = row.schema.name.partition("::")
    return hasattr(getattr(torch.ops, namespace), name.partition(".")[0])


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"rushlight_reference_{abs(hash(path))}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _function(module: ModuleType | None, row: Operator, folder: Path) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(module, row.schema.base_name, None)
    if not callable(function):
        raise InvalidSelection(
            f"{folder / REFERENCE}: expected a function '{row.schema.base_name}', got none",
            next_step=f"Write {row.name} in PyTorch: def {row.schema.base_name}(...)",
        )
    return function


def _define(row: Operator, function: Callable[..., Any]) -> None:
    namespace = row.schema.name.partition("::")[0]
    library = _libraries.get(namespace)
    if library is None:
        library = _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    plain = row.schema.functional()
    for schema, implementation in ((plain, function), (row.schema.text, _into_outs(row, function))):
        name = schema.partition("::")[2]
        library.define(name)
        library.impl(name.partition("(")[0], implementation, "CompositeExplicitAutograd")
    torch.library.register_fake(plain.partition("(")[0], function, lib=library)


def _into_outs(row: Operator, function: Callable[..., Any]) -> Callable[..., Any]:
    """The out overload: calls the function and copies the results into the outs."""
    outs = [argument.name for argument in row.schema.arguments if argument.mutable]

    def compute(*args: Any, **kwargs: Any) -> Any:
        targets = [kwargs.pop(name) for name in outs]
        results = function(*args, **kwargs)
        for out, result in zip(targets, [results] if len(targets) == 1 else results, strict=True):
            out.resize_(result.shape).copy_(result)
        return targets[0] if len(targets) == 1 else tuple(targets)

    return compute
