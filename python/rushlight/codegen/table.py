# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks the operator table, kernels/ops.yaml; for other kernel libraries see libraries.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from rushlight.codegen.schema import Schema, parse_schema
from rushlight.documents import read_yaml
from rushlight.errors import InvalidSelection
from rushlight.program.dtypes import FLOATING, NUMBERS

KERNELS_NAMESPACE = "rushlight::kernels"

BACKS_FOLDERS = ("host", "board")
"""The folders of kernels/ with backs: for processors with wide vectors, and for small ones."""

FRONTS_FOLDER = "operators"
"""The folder of kernels/ with fronts, grouped on shelves: kernels/operators/<shelf>/op_<name>.cpp."""

EXACT_SOURCES = re.compile(r"kernels/(operators/(cortex_m|quantized)|quantization)/\w+\.cpp")
"""Sources compiled without contraction to fused multiply-add: their results are the same on every CPU, and
round twice as PyTorch's do."""

LIBRARIES = ("portable", "prim", "quantized")
"""The values of a row's `library`: PyTorch's operators, operators on scalars, on quantized tensors."""

_ROW_KEYS = {
    *("schema", "kernel", "dtypes", "index_dtypes", "library", "source", "tolerance", "traits", "backs")
}
TRAITS = {
    "in_place": "the result may overwrite an input with its dtype, sizes and dim order",
    "commutes": "the first two arguments may be swapped",
    "folds": "it only copies or converts: a call with constants is executed once, at load",
    # In four dimensions, the rank of channels-last tensors; for dequantization and the like in any rank.
    "keeps_order": "the result has the dim order of the first input and of a `residual`; others may have any",
    # Operators with PyTorch's pointwise tag need not repeat it.
    "pointwise": "an element depends on the inputs' at its index: the result may have their dim order",
    "follows_order": "each tensor may have its own dim order: the result takes that of most bytes it reads",
    "reads_any_order": "each input may have its own dim order; the result is row-major",
    "any_order": "each tensor, the result too, may have its own dim order",
    "view": "the result has the input's elements in the same order, under other sizes",
    # Every other operator has no state but its arguments: hosts may call it beside others.
    "draws": "it draws random numbers: calls keep the program's order",
}
"""The traits of an operator, by name. The exporter relies on them, and tests check the kernels."""

_BACK_KEYS = {"dtypes", "beside", "source", "function", "prepares", "whole", "declines"}


@dataclass(frozen=True)
class Back:
    """One implementation behind an operator's front: rushlight::kernels::<name>::<function>, defined in
    kernels/<source>.cpp, computes problems whose tensors all have one dtype of `dtypes`.

    `beside`: dtypes of tensors that do not count for that, such as scales. `whole`: it computes every
    problem of any dtype. `declines`: it may pass a problem on, so the portable code is always compiled
    too; `needs_scratch`: it does so only for lack of scratch memory (`declines: scratch`). `prepares`: it
    packs constants when a method is loaded.
    """

    name: str
    dtypes: frozenset[str]
    source: str
    function: str
    prepares: bool = False
    whole: bool = False
    declines: bool = False
    needs_scratch: bool = False
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OfficialKernel:
    """A kernel with ExecuTorch's C++ signature: `function` is its full name. `keys` are the tensors it is
    for, see kernel_keys.py; without keys it takes all that no other kernel of its operator takes."""

    function: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operator:
    """One row: the C++ function `kernel` in <table's folder>/<source>.cpp computes in `dtypes`. Tensors of
    positions, pivots or counts may also have `index_dtypes`.

    `of` is the added library of the row; empty for kernels/ops.yaml, where `group` is one of LIBRARIES.
    `kernel` is in `namespace`; if `official` has kernels with ExecuTorch's signature, `kernel` is the
    generated adapter for them. An empty `source` means that the caller links it.

    `kernel` is the operator's front. `back` computes the problems that it accepts; the front's own
    portable code computes the rest. `known_backs` are the row's backs for all targets; a table offers each
    row with its target's back, as library "optimized", and without. `problem` names the header in
    kernels/backs with the struct that the front fills and the declarations of the backs. `traits` are keys
    of TRAITS.
    """

    schema: Schema
    kernel: str
    dtypes: frozenset[str]
    source: str
    tolerance: Mapping[str, float] = field(default_factory=dict)
    index_dtypes: frozenset[str] = frozenset()
    of: str = ""
    group: str = "portable"
    namespace: str = KERNELS_NAMESPACE
    official: tuple[OfficialKernel, ...] = ()
    traits: frozenset[str] = frozenset()
    back: Back | None = None
    known_backs: tuple[Back, ...] = ()
    problem: str = ""

    @property
    def name(self) -> str:
        """The operator's full name."""
        return self.schema.name

    @property
    def library(self) -> str:
        """The row's kernel library: an added one, "optimized", or one of LIBRARIES."""
        return self.of or ("optimized" if self.back else self.group)

    @property
    def folds(self) -> bool:
        """True if the kernel can execute a call with constant arguments once, at load."""
        return "folds" in self.traits

    @property
    def keeps_order(self) -> bool:
        """True if calls keep the program's order: the kernel draws random numbers, or an application brought
        it and it may have any state."""
        return bool(self.of) or "draws" in self.traits

    @property
    def prepare(self) -> str:
        """The function that packs the call's constants when a method is loaded; empty if there is none."""
        return f"{self.kernel}_prepare" if self.back and self.back.prepares else ""

    @property
    def function(self) -> str:
        """The kernel's full C++ name."""
        return f"{self.namespace}::{self.kernel}"

    @property
    def unit(self) -> str:
        """The kernel's source, with its library as prefix if it was added."""
        return f"{self.of}/{self.source}" if self.of else self.source


@dataclass(frozen=True)
class OperatorTable:
    """All selected rows by operator name, in the file's order.

    `offers` has all rows of operators that several libraries offer, the selected one first. `folders` has
    the folders of added libraries, by name; `files` other files that were read; `sets` the named sets of
    dtypes.
    """

    path: Path
    operators: Mapping[str, Operator]
    offers: Mapping[str, tuple[Operator, ...]] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def libraries(self) -> list[str]:
        """The libraries of all rows, selected or not."""
        return sorted({operator.library for operator in self.rows()} | set(self.folders))

    def rows(self) -> list[Operator]:
        """All rows, including rows of libraries that were not selected for their operator."""
        return [row for name, taken in self.operators.items() for row in self.offers.get(name, (taken,))]

    def source_path(self, operator: Operator) -> Path:
        """The C++ file of the operator's kernel."""
        folder = self.folders[operator.of] if operator.of else self.path.parent
        named = folder / operator.source
        return named if named.suffix in (".cc", ".cxx", ".c++") else folder / f"{operator.source}.cpp"

    def back_path(self, back: Back) -> Path:
        """The C++ file of a back."""
        return self.path.parent / f"{back.source}.cpp"

    def source_paths(self, operator: Operator) -> list[Path]:
        """The C++ files of the operator: the front's, and the back's if it has one."""
        backs = [self.back_path(operator.back)] if operator.back else []
        return [self.source_path(operator), *backs]


def load_yaml(path: Path) -> Any:
    """The content of a YAML file that selects operators.

    Errors: MissingDependency; InvalidSelection for a missing file or invalid YAML.
    """
    return read_yaml(path, error=InvalidSelection)


def load_table(path: Path) -> OperatorTable:
    """Reads an operator table. Errors: InvalidSelection naming the file and the row."""
    content = load_yaml(path)
    if not isinstance(content, dict) or not {"dtypes", "operators"} <= content.keys():
        raise InvalidSelection(f"{path}: expected a mapping with 'dtypes' and 'operators'")
    sets = dtype_sets(content["dtypes"], path)
    shelves = {file.stem: file for file in sorted((path.parent / FRONTS_FOLDER).glob("*/*.cpp"))}
    rows = [
        replace(row, source=_front_source(row.source, shelves, path))
        for listed in content["operators"] or []
        for row in read_rows(listed, sets, path)
    ]
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.name, row.library) in seen:
            raise InvalidSelection(f"{path}: {row.name}: expected one row, got two")
        seen.add((row.name, row.library))
    check_kernels(rows, path)
    return by_priority(OperatorTable(path, {}, sets=sets), rows)


def _front_source(name: str, shelves: Mapping[str, Path], table: Path) -> str:
    """The path of a source on its shelf; in the folder of fronts itself if no shelf has it."""
    found = shelves.get(name)
    return found.relative_to(table.parent).with_suffix("").as_posix() if found else f"{FRONTS_FOLDER}/{name}"


def by_priority(
    table: OperatorTable, rows: Iterable[Operator], rank: Callable[[Operator], int] | None = None
) -> OperatorTable:
    """`table` with `rows`: for each operator the row with the lowest rank is selected."""
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
    """Added libraries rank before optimized kernels, and these before all others."""
    if operator.of:
        return 0
    return 1 if operator.library == "optimized" else 2


def dtype_sets(
    content: Any, path: Path, known: Mapping[str, frozenset[str]] | None = None
) -> dict[str, frozenset[str]]:
    """The named sets of a table's `dtypes`, after the `known` ones."""
    sets = dict(known or {})
    if not isinstance(content, dict):
        raise InvalidSelection(f"{path}: 'dtypes': expected sets by name, got {content!r:.120}")
    for name, items in content.items():
        sets[name] = _dtypes(items, sets, f"{path}: set '{name}'")
    return sets


def _dtypes(items: Any, sets: Mapping[str, frozenset[str]], where: str) -> frozenset[str]:
    chosen: set[str] = set()
    for item in [items] if isinstance(items, str) else items or []:
        if item not in sets and item not in NUMBERS:
            known = ", ".join(sets)
            raise InvalidSelection(f"{where}: expected a dtype or one of the sets {known}, got '{item}'")
        chosen |= sets.get(item, {item})
    return frozenset(chosen)


def read_rows(row: Any, sets: Mapping[str, frozenset[str]], path: Path) -> list[Operator]:
    """A row with its back for hosts, if it has one, and the row without."""
    read = read_row(row, sets, path)
    return [*_with_back(read, "host"), read]


def for_small_targets(table: OperatorTable, floats_in_software: bool = False) -> OperatorTable:
    """The table for a target without wide vectors: rows with their back for boards, which packs nothing.

    `floats_in_software` omits backs for floats: without an FPU a float multiplication dominates, and
    portable code is smaller.
    """
    rows: list[Operator] = []
    for row in table.rows():  # in order of preference
        if row.back is not None or not any(back.name == "host" for back in row.known_backs):
            small = _with_back(row, "board")
            rows += [each for each in small if not (floats_in_software and _computes_floats(each))]
        rows += [row] if row.back is None else []
    return by_priority(table, rows, by_order)


def _computes_floats(row: Operator) -> bool:
    return row.back is not None and not row.back.whole and bool(row.back.dtypes & FLOATING)


def _with_back(row: Operator, name: str) -> list[Operator]:
    """The row with its back of that name; empty if it has none."""
    return [replace(row, back=back) for back in row.known_backs if back.name == name]


def _backs(
    row: Mapping[str, Any], read: Operator, sets: Mapping[str, frozenset[str]], where: str
) -> Operator:
    if "backs" not in row:
        return read
    given = row["backs"]
    if not isinstance(given, dict) or not {"problem"} < given.keys() <= {"problem", *BACKS_FOLDERS}:
        raise InvalidSelection(
            f"{where}: backs: expected a mapping with 'problem' and some of {', '.join(BACKS_FOLDERS)}, "
            f"got {given!r:.120}"
        )
    backs = tuple(_back(name, given[name], read, sets, where) for name in BACKS_FOLDERS if name in given)
    return replace(read, known_backs=backs, problem=given["problem"])


def _back(name: str, given: Any, row: Operator, sets: Mapping[str, frozenset[str]], where: str) -> Back:
    """A back of a row, given as a mapping or as its dtypes alone."""
    where = f"{where}: back '{name}'"
    keys = given if isinstance(given, dict) else {"dtypes": given}
    if unknown := keys.keys() - _BACK_KEYS:
        raise InvalidSelection(
            f"{where}: expected keys of {', '.join(sorted(_BACK_KEYS))}, got '{min(unknown)}'"
        )
    flags = {key: keys.get(key, False) for key in ("prepares", "whole", "declines")}
    needs_scratch = flags["declines"] == "scratch"
    flags["declines"] = needs_scratch or flags["declines"]
    for key, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidSelection(f"{where}: '{key}': expected true or false, got {value!r:.120}")
    if flags["whole"] == ("dtypes" in keys):
        raise InvalidSelection(f"{where}: expected either 'dtypes' or 'whole: true'")
    if flags["prepares"] and row.folds:
        raise InvalidSelection(f"{where}: expected 'folds' or 'prepares', got both")
    dtypes = row.dtypes if flags["whole"] else _dtypes(keys["dtypes"], sets, where)
    beside = _dtypes(keys["beside"], sets, where) if "beside" in keys else frozenset()
    if beyond := (dtypes | beside) - row.dtypes:
        raise InvalidSelection(f"{where}: expected the row's dtypes, got {min(beyond)}")
    source = f"{name}/{keys.get('source', PurePosixPath(row.source).name.removeprefix('op_'))}"
    function = keys.get("function", row.kernel.removesuffix("_out"))
    return Back(name, dtypes, source, function, needs_scratch=needs_scratch, beside=beside, **flags)


def by_order(_row: Operator) -> int:
    """A constant rank, because the rows are in order already."""
    return 0


def read_row(row: Any, sets: Mapping[str, frozenset[str]], path: Path) -> Operator:
    """Reads one row of `operators`; `sets` are the named dtype sets. Errors: InvalidSelection."""
    if not isinstance(row, dict) or not {"schema", "kernel"} <= row.keys():
        raise InvalidSelection(f"{path}: expected a row with 'schema' and 'kernel', got {row!r:.120}")
    schema = parse_schema(row["schema"])
    where = f"{path}: {schema.name}"
    if unknown := row.keys() - _ROW_KEYS:
        known = ", ".join(sorted(_ROW_KEYS))
        raise InvalidSelection(f"{where}: expected keys of {known}, got '{min(unknown)}'")
    if "dtypes" not in row and schema.has_tensor:
        raise InvalidSelection(f"{where}: expected dtypes for its tensors, got none")
    # A loader that keeps no constants relies on this.
    if any(argument.base == "Any" and argument.mutable for argument in schema.arguments[:-1]):
        raise InvalidSelection(f"{where}: expected a written scalar as last argument, got it earlier")
    tolerance = row.get("tolerance") or {}
    if unknown := tolerance.keys() - NUMBERS.keys():
        raise InvalidSelection(f"{where}: tolerance: expected dtypes, got '{min(unknown)}'")
    read = Operator(
        schema=schema,
        kernel=row["kernel"],
        dtypes=_dtypes(row.get("dtypes", ()), sets, where),
        source=row.get("source", f"op_{schema.base_name.strip('_')}"),
        group=_library(row, where),
        index_dtypes=_dtypes(row.get("index_dtypes", ()), sets, where),
        tolerance={dtype: float(bound) for dtype, bound in tolerance.items()},
        traits=_traits(row, where),
    )
    return _backs(row, read, sets, where)


def _library(row: Mapping[str, Any], where: str) -> str:
    given = row.get("library", "portable")
    if given not in LIBRARIES:
        raise InvalidSelection(
            f"{where}: library: expected one of {', '.join(LIBRARIES)}, got {given!r:.120}"
        )
    return str(given)


def _traits(row: Mapping[str, Any], where: str) -> frozenset[str]:
    traits = row.get("traits", [])
    if not isinstance(traits, list) or not all(each in TRAITS for each in traits):
        raise InvalidSelection(
            f"{where}: traits: expected a list of {', '.join(TRAITS)}, got {traits!r:.120}"
        )
    return frozenset(traits)


def check_kernels(rows: Iterable[Operator], path: Path) -> None:
    """Checks that rows that share a kernel have the same signature, because it is declared once."""
    seen: dict[str, Operator] = {}
    for operator in rows:
        first = seen.setdefault(operator.function, operator)
        if {back.function for back in first.known_backs} != {back.function for back in operator.known_backs}:
            raise InvalidSelection(
                f"{path}: {first.name} and {operator.name}: expected the same backs of their kernel "
                f"{operator.kernel}, got different ones"
            )
        if first.schema.cpp_signature() != operator.schema.cpp_signature():
            raise InvalidSelection(
                f"{path}: {first.name} and {operator.name}: expected the same arguments of their kernel "
                f"{operator.kernel}, got different ones"
            )
