# SPDX-License-Identifier: BSD-3-Clause
"""Selections: the union of operators from lists, YAML files and models, and the kernels for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from rushlight.codegen.calls import CallFacts
from rushlight.codegen.opinfo import Need, OpInfo, of_all, of_list, of_model
from rushlight.codegen.options import split_names
from rushlight.codegen.selection_yaml import of_yaml
from rushlight.codegen.table import Operator, OperatorTable
from rushlight.errors import InvalidSelection, OperatorNotFound
from rushlight.program.dtypes import NUMBERS, named


class Unit(NamedTuple):
    """A kernel source compiled for an operator, and the dtypes it is compiled for."""

    name: str  # without .cpp, see Operator.unit
    path: Path
    dtypes: frozenset[str]


@dataclass(frozen=True)
class Selected:
    """A selected operator: the dtypes its kernel is built for, those its tensors may have, and the
    origins."""

    operator: Operator
    dtypes: frozenset[str]
    tensor_dtypes: frozenset[str]
    askers: tuple[str, ...]
    keep_portable: bool = False  # compile the portable kernel even behind a complete back
    calls: frozenset[CallFacts] | None = None  # None: calls of any kind

    @property
    def has_portable(self) -> bool:
        """True if calls may reach the front's portable code: without a back, behind one that declines, and
        for dtypes or mixtures of dtypes that the back does not accept."""
        back = self.operator.back
        if back is None or self.keep_portable or (back.declines and not self.always_computes):
            return True
        deciding = self.dtypes - back.beside
        few = len(deciding) <= 1 and deciding <= back.dtypes
        return not back.whole and not few

    @property
    def always_computes(self) -> bool:
        """True if the back computes all calls of the build: it declines for lack of scratch memory only, and
        programs state how much they need."""
        return self.calls is not None and self.operator.back is not None and self.operator.back.needs_scratch

    def units(self, table: OperatorTable) -> list[Unit]:
        """The sources compiled for it: the front's, and the back's."""
        row = self.operator
        if not row.source:
            return []
        units = [Unit(row.unit, table.source_path(row), self.dtypes)]
        if row.back is not None:
            units.append(Unit(row.back.source, table.back_path(row.back), self.dtypes & row.back.dtypes))
        return units

    def to_json(self, table: OperatorTable) -> dict[str, Any]:
        """The operator as JSON types: library, kernel, source (None: the caller links it), source of its back
        (None: it has none), whether calls may reach its portable code, dtypes, and origins."""
        row = self.operator
        return {
            "library": row.library,
            "kernel": ", ".join(kernel.function for kernel in row.official) or row.function,
            "source": str(table.source_path(row).resolve()) if row.source else None,
            "back": str(table.back_path(row.back).resolve()) if row.back else None,
            "portable": self.has_portable,
            "dtypes": sorted(self.dtypes, key=NUMBERS.__getitem__),
            "asked_by": list(self.askers),
        }


@dataclass
class Selection:
    """A growing union of requests over one operator table. `by_dtype`: an operator needed by programs gets
    only the programs' dtypes. `only`: the dtypes of operators for which no dtypes were requested; None for
    all. `keep_portable`: compile the portable code of every operator, whatever its back accepts. `by_calls`:
    compile only what the programs' calls reach."""

    table: OperatorTable
    by_dtype: bool = False
    only: frozenset[str] | None = None
    info: OpInfo = field(default_factory=OpInfo)
    depends: list[Path] = field(default_factory=list)
    keep_portable: bool = False
    by_calls: bool = False

    def add(self, name: str, asker: str, dtypes: Iterable[str] | None = None) -> None:
        """Adds one operator; `dtypes` None means all of the kernel's."""
        found = None if dtypes is None else set(dtypes)
        self.info.add(name, Need({asker}, found=found, every_dtype=dtypes is None))

    def add_list(self, text: str) -> None:
        """Adds a list separated by commas or semicolons ("aten::add.out, mm.out")."""
        self.info.merge(of_list(text))

    def add_all(self) -> None:
        """Adds every row of the table."""
        self.info.merge(of_all(self.table.operators))

    def add_yaml(self, path: Path) -> None:
        """Adds the operators of a YAML file, see selection_yaml.of_yaml."""
        self.info.merge(of_yaml(path, self.table))
        self.depends.append(path)

    def add_model(self, path: Path) -> None:
        """Adds the operators of a program or bundled program, with the dtypes it needs."""
        self.info.merge(of_model(path, self.table))
        self.depends.append(path)

    def resolve(self) -> list[Selected]:
        """The selected operators, sorted by name. Errors: OperatorNotFound listing all that no library has;
        InvalidSelection if a source is missing."""
        rows = self.table.operators
        missing = {name: sorted(need.askers) for name, need in self.info.needs.items() if name not in rows}
        if missing:
            raise OperatorNotFound(missing, self.table.libraries, rows)
        return [self._selected(name) for name in sorted(self.info.needs)]

    def _selected(self, name: str) -> Selected:
        operator, need = self.table.operators[name], self.info.needs[name]
        asked = frozenset(need.said)
        if self.by_dtype or self.only is not None:
            asked |= frozenset(need.found or ())
        if need.every_dtype or (need.found is not None and not self.by_dtype):
            every = operator.dtypes | {"bool"}
            asked |= every if self.only is None else every & self.only
        dtypes = operator.dtypes & asked
        if operator.back is not None and not operator.back.whole and not dtypes & operator.back.dtypes:
            operator = replace(operator, back=None)  # it would have no dtypes left
        # Delegates call operators that no program names.
        are_known = self.by_calls and not self.keep_portable and not self.info.delegates
        calls = need.calls if are_known else None
        selected = Selected(operator, dtypes, asked, tuple(sorted(need.askers)), self.keep_portable, calls)
        for unit in selected.units(self.table):
            if not unit.path.is_file():
                raise InvalidSelection(
                    f"{name}, from library {operator.library}: expected its source {unit.path}, got no file"
                )
        return selected


def dtype_set(names: str | Iterable[str]) -> frozenset[str] | None:
    """The dtypes in a list, or in a text with a list ("float, int64"); None if it is empty. Errors:
    InvalidSelection."""
    listed = split_names(names)
    dtypes = {item: named(item) for item in listed}
    unknown = [item for item, dtype in dtypes.items() if dtype is None]
    if unknown:
        raise InvalidSelection(f"dtypes: expected names such as float32 or int64, got '{unknown[0]}'")
    return frozenset(dtype for dtype in dtypes.values() if dtype is not None) or None
