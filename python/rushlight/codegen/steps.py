# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a selection: extract from each model, merge to one, resolve to kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rushlight.codegen.opinfo import Need, OpInfo, of_all, of_list, of_model
from rushlight.codegen.selection import Selected, Selection
from rushlight.codegen.selection_yaml import of_yaml, to_yaml
from rushlight.codegen.table import OperatorTable


def extract(models: Iterable[Path], table: OperatorTable) -> OpInfo:
    """The operators, dtypes and delegates of programs. `table` defines which arguments of an operator are
    scalars; operators missing in it are still included.

    Errors: InvalidArgument for a missing file, InvalidProgram.
    """
    info = OpInfo()
    for path in models:
        info.merge(of_model(path, table))
    return info


def merge(
    files: Iterable[Path], table: OperatorTable, *, ops: str | Iterable[str] = (), all_ops: bool = False
) -> OpInfo:
    """The union of the operators in YAML files of any form, in a list, and in "all". Errors:
    InvalidSelection."""
    info = OpInfo()
    for path in files:
        info.merge(of_yaml(path, table))
    info.merge(of_list(ops))
    if all_ops:
        info.merge(of_all(table.operators))
    return info


def resolve(
    info: OpInfo, table: OperatorTable, *, by_dtype: bool = False, only: frozenset[str] | None = None
) -> tuple[Selection, list[Selected]]:
    """The kernel of each operator, with its library, source and dtypes.

    Errors: OperatorNotFound listing all that no library has, InvalidSelection.
    """
    selection = Selection(table, by_dtype, only, info)
    return selection, selection.resolve()


def exchanged(info: OpInfo) -> str:
    """The operators as a selected_operators.yaml for the next step."""

    def dtypes(_name: str, need: Need) -> Sequence[str] | None:
        return None if need.every_dtype else sorted(need.said | (need.found or set()))

    return to_yaml(info, dtypes)
