# SPDX-License-Identifier: BSD-3-Clause
"""What to build: operators asked for by lists, YAML files and models, united."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rushlight.codegen.closure import model_dtypes
from rushlight.codegen.table import Operator, OperatorTable, load_yaml
from rushlight.errors import InvalidProgram, InvalidSelection, OperatorNotFound
from rushlight.program import read_model
from rushlight.program.dtypes import NUMBERS, named

ROOT_OPS = "the operator list"
ALL_OPS = "all operators"

_OPERATOR = re.compile(r"(?:(\w+)::)?(\w+(?:\.\w+)?)")


@dataclass
class Request:
    """Who asked for an operator, and for which dtypes: `every_dtype` once anyone did not say."""

    askers: set[str] = field(default_factory=set)
    dtypes: set[str] = field(default_factory=set)
    every_dtype: bool = False


@dataclass(frozen=True)
class Selected:
    """A selected operator: the dtypes its kernel is built for, and those its tensors may have."""

    operator: Operator
    dtypes: frozenset[str]
    tensor_dtypes: frozenset[str]
    askers: tuple[str, ...]


@dataclass
class Selection:
    """A growing union of requests over one operator table. `only` are the dtypes that operators get whose
    dtypes nobody said; None stands for all."""

    table: OperatorTable
    by_dtype: bool = False
    only: frozenset[str] | None = None
    requests: dict[str, Request] = field(default_factory=dict)
    depends: list[Path] = field(default_factory=list)

    def add(self, name: str, asker: str, dtypes: Iterable[str] | None = None) -> None:
        """Ask for one operator; `dtypes` None means all that the kernel has."""
        request = self.requests.setdefault(name, Request())
        request.askers.add(asker)
        if dtypes is None or not self.by_dtype:
            request.every_dtype = True
        if dtypes is not None and (self.by_dtype or self.only is not None):
            request.dtypes.update(dtypes)

    def add_list(self, text: str) -> None:
        """Ask for a comma or semicolon separated list ("aten::add.out, mm.out")."""
        for item in re.split(r"[,;\s]+", text):
            if item:
                self.add(operator_name(item, ROOT_OPS), ROOT_OPS)

    def add_all(self) -> None:
        """Ask for every row of the table."""
        for name in self.table.operators:
            self.add(name, ALL_OPS)

    def add_yaml(self, path: Path) -> None:
        """Ask for what a YAML file lists, see `yaml_entries`."""
        for name, dtypes in yaml_entries(load_yaml(path), path):
            self.add(name, shown(path), dtypes)
        self.depends.append(path)

    def add_model(self, path: Path) -> None:
        """Ask for the operators of a program or bundled program, with the dtypes it needs."""
        try:
            uses = model_dtypes(read_model(path), self.table)
        except InvalidProgram as error:
            raise InvalidProgram(f"{path}: {error}", next_step=error.next_step) from error
        for name, dtypes in uses.items():
            self.add(name, shown(path), dtypes)
        self.depends.append(path)

    def resolve(self) -> list[Selected]:
        """The selected operators by name. Errors: OperatorNotFound for all that no library has."""
        rows = self.table.operators
        missing = {name: sorted(r.askers) for name, r in self.requests.items() if name not in rows}
        if missing:
            raise OperatorNotFound(missing, self.table.libraries, rows)
        return [self._selected(name) for name in sorted(self.requests)]

    def _selected(self, name: str) -> Selected:
        operator, request = self.table.operators[name], self.requests[name]
        if operator.source and not self.table.source_path(operator).is_file():
            raise InvalidSelection(f"{name}: its source {self.table.source_path(operator)} is not there")
        asked = frozenset(request.dtypes)
        if request.every_dtype:
            every = operator.dtypes | {"bool"}
            asked |= every if self.only is None else every & self.only
        return Selected(operator, operator.dtypes & asked, asked, tuple(sorted(request.askers)))


def shown(path: Path) -> str:
    """A file's name with its folder's: models are often called the same, their folders are not."""
    return "/".join(path.parts[-2:])


def dtype_set(text: str) -> frozenset[str] | None:
    """The dtypes of a comma or semicolon separated list ("float, int64"); None when it is empty."""
    listed = [item for item in re.split(r"[,;\s]+", text) if item]
    dtypes = {item: named(item) for item in listed}
    unknown = [item for item, dtype in dtypes.items() if dtype is None]
    if unknown:
        raise InvalidSelection(f"the dtypes: '{unknown[0]}' is none; expected names such as float32 or int64")
    return frozenset(dtype for dtype in dtypes.values() if dtype is not None) or None


def operator_name(text: str, asker: str) -> str:
    """The full operator name of "add.out", "aten::add.out" or a whole schema; aten is the default."""
    match = _OPERATOR.fullmatch(text.split("(", 1)[0].strip())
    if match is None:
        raise InvalidSelection(f"{asker}: '{text}' is no operator name; expected namespace::name.overload")
    return f"{match[1] or 'aten'}::{match[2]}"


def yaml_entries(content: Any, path: Path) -> list[tuple[str, list[str] | None]]:
    """Operators, each with its dtypes or None for all.

    Takes a list of `- op: add.out` and `- func: ns::name.out(…) -> …` entries (other keys, such as
    `kernels`, are not read), a list of names, or a mapping with `operators` by name, as in
    selected_operators.yaml.
    """
    if isinstance(content, dict) and isinstance(content.get("operators"), dict):
        return [_mapping_entry(str(key), value, path) for key, value in content["operators"].items()]
    if not isinstance(content, list):
        raise InvalidSelection(f"{path}: expected a list of `- op: name` entries or an `operators` mapping")
    entries: list[tuple[str, list[str] | None]] = []
    for item in content:
        name = (item.get("op") or item.get("func")) if isinstance(item, dict) else item
        if not isinstance(name, str):
            raise InvalidSelection(f"{path}: expected an entry with 'op' or 'func', found {item!r:.120}")
        entries.append((operator_name(name, str(path)), None))
    return entries


def _mapping_entry(key: str, value: Any, path: Path) -> tuple[str, list[str] | None]:
    dtypes = value.get("dtypes") if isinstance(value, dict) else None
    if dtypes is not None and (not isinstance(dtypes, list) or any(d not in NUMBERS for d in dtypes)):
        raise InvalidSelection(f"{path}: {key}: expected a list of dtypes, found {dtypes!r:.120}")
    return operator_name(key, str(path)), dtypes
