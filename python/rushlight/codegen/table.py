# SPDX-License-Identifier: BSD-3-Clause
"""The operator table, kernels/ops.yaml, read and checked; with other kernel libraries: libraries.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rushlight.codegen.schema import Schema, parse_schema
from rushlight.documents import read_yaml
from rushlight.errors import InvalidSelection
from rushlight.program.dtypes import NUMBERS

KERNELS_NAMESPACE = "rushlight::kernels"

OPTIMIZED_NAMESPACE = f"{KERNELS_NAMESPACE}::optimized"

_ROW_KEYS = {"schema", "kernel", "dtypes", "index_dtypes", "source", "tolerance", "folds", "optimized"}
_OPTIMIZED_KEYS = {"dtypes", "source", "prepare", "whole", "hosts_only"}


@dataclass(frozen=True)
class OfficialKernel:
    """A kernel with ExecuTorch's C++ signature: `function` by its full name. `keys` are the tensors that it
    is for, see kernel_keys.py; without any it takes all that no other kernel of its operator takes."""

    function: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operator:
    """One row: the C++ function `kernel` in <library's folder>/<source>.cpp computes in `dtypes`. Tensors of
    positions, pivots or counts may be of `index_dtypes` besides.

    `of` is the kernel library; without it, the first folder of `source` (kernels/<library>/...). `kernel` is
    in `namespace`; where `official` names kernels with ExecuTorch's signature, it is the generated function
    in front of them. An empty `source` stands for one that the caller links.

    An optimized kernel computes itself in `fast` and leaves other calls to `portable`, the row it belongs to,
    but for `whole` ones, which leave nothing. `prepare` is the function that prepares its constants at load,
    if it has one; `hosts_only` says that it is not for targets that take small kernels.

    A kernel that `folds` only copies or converts: with constant arguments it is run once, at load.
    """

    schema: Schema
    kernel: str
    dtypes: frozenset[str]
    source: str
    tolerance: Mapping[str, float] = field(default_factory=dict)
    index_dtypes: frozenset[str] = frozenset()
    of: str = ""
    namespace: str = KERNELS_NAMESPACE
    official: tuple[OfficialKernel, ...] = ()
    fast: frozenset[str] = frozenset()
    whole: bool = False
    prepare: str = ""
    folds: bool = False
    hosts_only: bool = False
    portable: Operator | None = None

    @property
    def name(self) -> str:
        """The operator's full name."""
        return self.schema.name

    @property
    def library(self) -> str:
        """The kernel library that has it: a folder of kernels/, or one that was added."""
        return self.of or self.source.split("/")[0]

    @property
    def function(self) -> str:
        """The kernel's full C++ name."""
        return f"{self.namespace}::{self.kernel}"

    @property
    def unit(self) -> str:
        """The kernel's source, told apart from those of other libraries."""
        return f"{self.of}/{self.source}" if self.of else self.source


@dataclass(frozen=True)
class OperatorTable:
    """All rows by operator name, in the file's order: of several libraries' rows, the one that is taken.

    `offers` has for each operator that several libraries offer all their rows, the taken one first. `folders`
    are those of added libraries, by name; `files` what else was read; `sets` the named sets of dtypes.
    """

    path: Path
    operators: Mapping[str, Operator]
    offers: Mapping[str, tuple[Operator, ...]] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def libraries(self) -> list[str]:
        """The libraries that rows name, taken or not."""
        return sorted({operator.library for operator in self.rows()} | set(self.folders))

    def rows(self) -> list[Operator]:
        """Every row, also those of operators that are taken from another library."""
        return [row for name, taken in self.operators.items() for row in self.offers.get(name, (taken,))]

    def source_path(self, operator: Operator) -> Path:
        """The C++ file of the operator's kernel."""
        folder = self.folders[operator.of] if operator.of else self.path.parent
        named = folder / operator.source
        return named if named.suffix in (".cc", ".cxx", ".c++") else folder / f"{operator.source}.cpp"


def load_yaml(path: Path) -> Any:
    """The content of a YAML file that selects operators.

    Errors: MissingDependency; InvalidSelection for a file that is not there or is no YAML.
    """
    return read_yaml(path, error=InvalidSelection)


def load_table(path: Path) -> OperatorTable:
    """Read an operator table. Errors: InvalidSelection naming the file and the row."""
    content = load_yaml(path)
    if not isinstance(content, dict) or not {"dtypes", "operators"} <= content.keys():
        raise InvalidSelection(f"{path}: expected a mapping with 'dtypes' and 'operators'")
    sets = dtype_sets(content["dtypes"], path)
    rows = [row for listed in content["operators"] or [] for row in read_rows(listed, sets, path)]
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.name, row.library) in seen:
            raise InvalidSelection(f"{path}: {row.name} has two rows")
        seen.add((row.name, row.library))
    check_kernels(rows, path)
    return by_priority(OperatorTable(path, {}, sets=sets), rows)


def by_priority(
    table: OperatorTable, rows: Iterable[Operator], rank: Callable[[Operator], int] | None = None
) -> OperatorTable:
    """`table` with `rows`: of those of one operator, the one of the lowest rank is taken."""
    offers: dict[str, list[Operator]] = {}
    for row in rows:
        offers.setdefault(row.name, []).append(row)
    ordered = {name: tuple(sorted(listed, key=rank or default_rank)) for name, listed in offers.items()}
    return replace(
        table,
        operators={name: listed[0] for name, listed in ordered.items()},
        offers={name: listed for name, listed in ordered.items() if len(listed) > 1},
    )


def default_rank(operator: Operator) -> int:
    """Added libraries go before optimized kernels, and these before all others."""
    if operator.of:
        return 0
    return 1 if operator.library == "optimized" else 2


def dtype_sets(
    content: Any, path: Path, known: Mapping[str, frozenset[str]] | None = None
) -> dict[str, frozenset[str]]:
    """The named sets of a table's `dtypes`, `known` ones first."""
    sets = dict(known or {})
    if not isinstance(content, dict):
        raise InvalidSelection(f"{path}: 'dtypes': expected sets by name, found {content!r:.120}")
    for name, items in content.items():
        sets[name] = _dtypes(items, sets, f"{path}: set '{name}'")
    return sets


def _dtypes(items: Any, sets: Mapping[str, frozenset[str]], where: str) -> frozenset[str]:
    chosen: set[str] = set()
    for item in [items] if isinstance(items, str) else items or []:
        if item not in sets and item not in NUMBERS:
            known = ", ".join(sets)
            raise InvalidSelection(f"{where}: '{item}' is neither a dtype nor one of the sets {known}")
        chosen |= sets.get(item, {item})
    return frozenset(chosen)


def read_rows(row: Any, sets: Mapping[str, frozenset[str]], path: Path) -> list[Operator]:
    """A row, and the optimized kernel that it names, if any."""
    portable = read_row(row, sets, path)
    given = row.get("optimized")
    if given is None:
        return [portable]
    where = f"{path}: {portable.name}: optimized"
    if not isinstance(given, dict) or "dtypes" not in given:
        raise InvalidSelection(f"{where}: expected a mapping with 'dtypes', found {given!r:.120}")
    if unknown := given.keys() - _OPTIMIZED_KEYS:
        known = ", ".join(sorted(_OPTIMIZED_KEYS))
        raise InvalidSelection(f"{where}: unknown key '{min(unknown)}'; it has {known}")
    fast = _dtypes(given["dtypes"], sets, where)
    if beyond := fast - portable.dtypes:
        raise InvalidSelection(f"{where}: {min(beyond)} is none of the row's dtypes")
    optimized = replace(
        portable,
        source=given.get("source", f"optimized/op_{portable.schema.base_name.strip('_')}"),
        namespace=OPTIMIZED_NAMESPACE,
        fast=fast,
        whole=bool(given.get("whole", False)),
        prepare=f"{portable.kernel}_prepare" if given.get("prepare") else "",
        hosts_only=bool(given.get("hosts_only", False)),
        portable=portable,
    )
    return [optimized, portable]


def for_small_targets(table: OperatorTable) -> OperatorTable:
    """The table of a target without wide vectors: kernels for hosts only are not offered, others come from
    optimized/small/ where there is a source of their name, which computes in float32 alone; nothing is
    prepared."""

    def fitted(row: Operator) -> list[Operator]:
        if row.library != "optimized":
            return [row]
        folder = row.source.rpartition("/")[0]
        source = f"{folder}/small/op_{row.schema.base_name.strip('_')}"
        small = replace(row, source=source, prepare="", fast=row.fast & {"float32"})
        if table.source_path(small).is_file():
            return [small]
        return [] if row.hosts_only else [replace(row, prepare="")]

    return by_priority(table, [kept for row in table.rows() for kept in fitted(row)], by_order)


def by_order(_row: Operator) -> int:
    """Rows are in order already."""
    return 0


def read_row(row: Any, sets: Mapping[str, frozenset[str]], path: Path) -> Operator:
    """One row of `operators`, in which the dtype sets are known."""
    if not isinstance(row, dict) or not {"schema", "kernel"} <= row.keys():
        raise InvalidSelection(f"{path}: expected a row with 'schema' and 'kernel', found {row!r:.120}")
    schema = parse_schema(row["schema"])
    where = f"{path}: {schema.name}"
    if unknown := row.keys() - _ROW_KEYS:
        known = ", ".join(sorted(_ROW_KEYS))
        raise InvalidSelection(f"{where}: unknown key '{min(unknown)}'; a row has {known}")
    if "dtypes" not in row and schema.has_tensor:
        raise InvalidSelection(f"{where}: takes tensors and names no dtypes")
    # A loader that keeps no constants goes by that.
    if any(argument.base == "Any" and argument.mutable for argument in schema.arguments[:-1]):
        raise InvalidSelection(f"{where}: a number that is written is the last argument")
    tolerance = row.get("tolerance") or {}
    if unknown := tolerance.keys() - NUMBERS.keys():
        raise InvalidSelection(f"{where}: tolerance for '{min(unknown)}', which is no dtype")
    return Operator(
        schema=schema,
        kernel=row["kernel"],
        dtypes=_dtypes(row.get("dtypes", ()), sets, where),
        source=row.get("source", f"portable/op_{schema.base_name.strip('_')}"),
        index_dtypes=_dtypes(row.get("index_dtypes", ()), sets, where),
        tolerance={dtype: float(bound) for dtype, bound in tolerance.items()},
        folds=_folds(row, schema, where),
    )


def _folds(row: Mapping[str, Any], schema: Schema, where: str) -> bool:
    folds = row.get("folds", False)
    if not isinstance(folds, bool):
        raise InvalidSelection(f"{where}: 'folds': expected true or false, found {folds!r:.120}")
    if folds and (row.get("optimized") or {}).get("prepare"):
        raise InvalidSelection(f"{where}: 'folds' and 'prepare': a kernel has one of the two")
    return folds


def check_kernels(rows: Iterable[Operator], path: Path) -> None:
    """Rows may share a kernel; then they share its signature, as it is declared once."""
    seen: dict[str, Operator] = {}
    for operator in rows:
        first = seen.setdefault(operator.function, operator)
        if first.schema.cpp_signature() != operator.schema.cpp_signature():
            raise InvalidSelection(
                f"{path}: {first.name} and {operator.name} name the kernel {operator.kernel} "
                "with different arguments"
            )
