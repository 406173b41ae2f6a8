# SPDX-License-Identifier: BSD-3-Clause
"""The user's own operators: their out overloads, from kernel libraries, YAML files in ExecuTorch's form, or
schemas."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rushlight.codegen.libraries import load_tables
from rushlight.codegen.schema import parse_schema
from rushlight.codegen.table import Operator, load_yaml
from rushlight.errors import InvalidSelection
from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.program.dtypes import NUMBERS, named
from rushlight.sources import source_root


def with_custom_operators(
    library: OperatorLibrary, given: Iterable[str | os.PathLike[str]]
) -> OperatorLibrary:
    """The library plus the operators of `custom_rows`."""
    return library.with_rows(custom_rows(given))


def custom_rows(given: Iterable[str | os.PathLike[str]]) -> list[Operator]:
    """The operators of kernel libraries and schemas.

    Args:
        given: folders of kernel libraries (see `rushlight.codegen.libraries`) or their YAML files; YAML
            files with a list of entries `func: ns::name.out(...) -> ...`, with `kernels` as in
            ExecuTorch's custom_ops.yaml; or such a schema itself.

    Errors: InvalidSelection naming the file and the entry.
    """
    rows: list[Operator] = []
    for each in given:
        text = os.fspath(each)
        if "(" in text and "->" in text:
            rows.append(_row(text, [], "a schema given to export()"))
        elif Path(text).is_dir() or isinstance(load_yaml(Path(text)), dict):
            rows += _library(text)
        else:
            rows += _rows(Path(text))
    return rows


def _library(path: str) -> list[Operator]:
    """The operators of a kernel library, including replacements of ours."""
    return [row for row in load_tables(source_root() / "kernels" / "ops.yaml", [path]).rows() if row.of]


def _rows(path: Path) -> list[Operator]:
    content = load_yaml(path)
    if not isinstance(content, list):
        raise InvalidSelection(f"{path}: expected a list of operators, got {type(content).__name__}")
    rows = []
    for index, entry in enumerate(content):
        if not isinstance(entry, dict) or not {"func", "op"} & entry.keys():
            raise InvalidSelection(f"{path}: entry {index}: expected a mapping with 'func' or 'op'")
        if "func" in entry:  # `op` entries are kernels for PyTorch's operators
            rows.append(_row(str(entry["func"]), entry.get("kernels") or [], f"{path}: entry {index}"))
    return rows


def _row(text: str, kernels: Sequence[Any], where: str) -> Operator:
    schema = parse_schema(text)
    if not any(argument.mutable for argument in schema.arguments):
        raise InvalidSelection(f"{where}: {schema.name}: expected an out overload, with a Tensor(a!)")
    kernel = kernels[0].get("kernel_name", "") if kernels and isinstance(kernels[0], dict) else ""
    dtypes = {name for entry in kernels if isinstance(entry, dict) for name in _dtypes(entry, where)}
    return Operator(schema, kernel or schema.base_name, frozenset(dtypes or NUMBERS), where)


def _dtypes(entry: dict[str, Any], where: str) -> list[str]:
    """The dtypes that a kernel's entry is restricted to; empty for all."""
    names = []
    for text in entry.get("dtypes") or []:
        name = named(str(text).lower())
        if name is None:
            raise InvalidSelection(f"{where}: expected a dtype, got '{text}'")
        names.append(name)
    return names
