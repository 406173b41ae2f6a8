# SPDX-License-Identifier: BSD-3-Clause
"""Operators of kernel libraries, made known to PyTorch: what has to be before a model that calls them is run
or exported."""

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
"""The file of a library's folder with a function for each operator: what it computes, in PyTorch."""

_libraries: dict[str, torch.library.Library] = {}


def register_custom_operators(folders: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Defines the operators of kernel libraries in PyTorch: torch.ops.<namespace>.<name>, and the out
    overload. One that PyTorch knows already, of this library or from elsewhere, stays as it is.

    Args:
        folders: of libraries, with a `reference.py`; those without one, and whatever else `custom_ops` of
            `rushlight.export` may be, are passed over.

    Returns the names of the operators that were defined.

    Errors: InvalidSelection naming the operator that the file has no function for.
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
            f"{folder / REFERENCE} has no function '{row.schema.base_name}'",
            next_step=f"Write what {row.name} computes, in PyTorch: def {row.schema.base_name}(...)",
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
    """The out overload: calls the function and copies."""
    outs = [argument.name for argument in row.schema.arguments if argument.mutable]

    def compute(*args: Any, **kwargs: Any) -> Any:
        targets = [kwargs.pop(name) for name in outs]
        results = function(*args, **kwargs)
        for out, result in zip(targets, [results] if len(targets) == 1 else results, strict=True):
            out.resize_(result.shape).copy_(result)
        return targets[0] if len(targets) == 1 else tuple(targets)

    return compute
