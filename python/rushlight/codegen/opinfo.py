# SPDX-License-Identifier: BSD-3-Clause
"""The needed operators, with dtypes, kernel keys and origins: the union over models and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rushlight.codegen.calls import CallFacts
from rushlight.codegen.closure import program_calls
from rushlight.codegen.options import split_names
from rushlight.codegen.table import OperatorTable
from rushlight.errors import InvalidProgram, InvalidSelection
from rushlight.program import Program, read_model

ROOT_OPS = "the operator list"
ALL_OPS = "all operators"

_OPERATOR = re.compile(r"(?:(\w+)::)?(\w+(?:\.\w+)?)")


@dataclass
class Need:
    """The need for an operator.

    `askers` are the origins: models, files, lists. `found` are the dtypes that programs need, for dtype
    selection; `said` are dtypes that a file names explicitly, which always count; `every_dtype` is True if
    an origin names none. `keys` are the kernel keys of calls, `calls` the facts of all calls; None if an
    origin does not know its calls.
    """

    askers: set[str] = field(default_factory=set)
    found: set[str] | None = None
    said: set[str] = field(default_factory=set)
    every_dtype: bool = False
    keys: set[str] = field(default_factory=set)
    calls: frozenset[CallFacts] | None = None

    def merge(self, other: Need) -> None:
        """Adds the other need to this one."""
        self.askers |= other.askers
        self.said |= other.said
        self.keys |= other.keys
        self.every_dtype |= other.every_dtype
        if self.calls is not None:
            self.calls = None if other.calls is None else self.calls | other.calls
        if other.found is not None:
            self.found = (self.found or set()) | other.found


@dataclass
class OpInfo:
    """Needs by operator name. `all_askers` are the origins that need every operator; `delegates` maps each
    needed backend to its origins."""

    needs: dict[str, Need] = field(default_factory=dict)
    all_askers: set[str] = field(default_factory=set)
    delegates: dict[str, set[str]] = field(default_factory=dict)

    def add(self, name: str, need: Need) -> None:
        """Adds the need for one operator."""
        self.needs.setdefault(name, Need(calls=frozenset())).merge(need)

    def merge(self, other: OpInfo) -> None:
        """Adds the other's needs to these."""
        for name, need in other.needs.items():
            self.add(name, need)
        for backend, askers in other.delegates.items():
            self.delegates.setdefault(backend, set()).update(askers)
        self.all_askers |= other.all_askers


def of_program(program: Program, table: OperatorTable, asker: str) -> OpInfo:
    """The operators of a program, including those missing in the table, with dtypes and keys; and its
    delegates."""
    info = OpInfo()
    for name, uses in program_calls(program, table).items():
        calls = None if uses.facts is None else frozenset(uses.facts)
        info.add(name, Need({asker}, found=set(uses.dtypes), keys=set(uses.keys), calls=calls))
    for plan in program.plans:
        for delegate in plan.delegates:
            info.delegates.setdefault(delegate.id, set()).add(asker)
    return info


def of_model(path: Path, table: OperatorTable) -> OpInfo:
    """The operators of a program's or bundled program's file. Errors: InvalidProgram naming the file."""
    try:
        return of_program(read_model(path), table, shown(path))
    except InvalidProgram as error:
        raise InvalidProgram(f"{path}: {error}", next_step=error.next_step) from error


def of_list(names: str | Iterable[str], asker: str = ROOT_OPS) -> OpInfo:
    """The operators of a list, or of a text with a list ("aten::add.out, mm.out")."""
    info = OpInfo()
    for item in split_names(names):
        info.add(operator_name(item, asker), Need({asker}, every_dtype=True))
    return info


def of_all(names: Iterable[str], asker: str = ALL_OPS) -> OpInfo:
    """All of `names`, in every dtype."""
    return OpInfo({name: Need({asker}, every_dtype=True) for name in names}, all_askers={asker})


def shown(path: Path) -> str:
    """A file's name with its folder's: models often share a file name, but not the folder's."""
    return "/".join(path.parts[-2:])


def operator_name(text: str, asker: str) -> str:
    """The full operator name for "add.out", "aten::add.out" or a whole schema; aten is the default namespace.
    Errors: InvalidSelection."""
    match = _OPERATOR.fullmatch(text.split("(", 1)[0].strip())
    if match is None:
        raise InvalidSelection(f"{asker}: expected namespace::name.overload, got '{text}'")
    return f"{match[1] or 'aten'}::{match[2]}"
