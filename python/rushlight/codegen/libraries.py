# SPDX-License-Identifier: BSD-3-Clause
"""Kernel libraries in addition to kernels/ops.yaml, and the choice of a library for each operator.

A library is a folder with a YAML file and sources, or that file. The file has the form of
kernels/ops.yaml:

  library: mine              # default: the folder's name
  api: rushlight             # or executorch: kernels have ExecuTorch's C++ signature
  dtypes: {few: [float32]}   # additional sets; the sets of kernels/ops.yaml are known
  operators:
    - schema: "my::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
      kernel: mine::twice_out    # in a source of the folder, or in `source: file`
      dtypes: few

It can also have the form of ExecuTorch's functions.yaml and custom_ops.yaml, whose kernels have
ExecuTorch's signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rushlight.codegen.kernel_keys import kernel_entries
from rushlight.codegen.schema import Schema, parse_schema
from rushlight.codegen.sources import defining_source, source_files
from rushlight.codegen.table import (
    KERNELS_NAMESPACE,
    LIBRARIES,
    OfficialKernel,
    Operator,
    OperatorTable,
    by_priority,
    check_kernels,
    default_rank,
    dtype_sets,
    load_table,
    load_yaml,
    read_row,
)
from rushlight.errors import InvalidSelection
from rushlight.program.dtypes import NUMBERS

BUILT_IN = ("optimized", *LIBRARIES)
"""The libraries inside kernels/."""

_USUAL_NAMES = ("ops.yaml", "custom_ops.yaml", "functions.yaml")
_KEYS = {"library", "api", "dtypes", "operators"}


class _Where(NamedTuple):
    """A library's file, and the context that its rows refer to."""

    name: str
    path: Path
    table: OperatorTable
    sources: list[Path]


def load_tables(
    ops_table: Path,
    libraries: Iterable[str] = (),
    priority: Sequence[str] = (),
    prefer: Mapping[str, str] | None = None,
) -> OperatorTable:
    """The operator table of kernels/ops.yaml and other libraries, each given as a path or "name=path".

    An operator in several libraries is taken from the library that `prefer` names for it, else from the
    first of `priority` that has it, else in this order: the library added last, optimized, the others.

    Errors: InvalidSelection naming the file and the defect, or the known names.
    """
    table = load_table(ops_table)
    folders: dict[str, Path] = {}
    rows, files = table.rows(), list(table.files)
    for given in libraries:
        where = _located(given, table)
        if where.name in folders or where.name in BUILT_IN:
            raise InvalidSelection(
                f"{where.path}: expected a unique library name, got '{where.name}' again",
                next_step="Choose another name: name=path.",
            )
        folders[where.name] = where.path.parent
        # Later libraries first: sorting by rank is stable.
        rows = [*_read(where), *rows]
        files += [where.path, *where.sources]
    _check_arguments(rows)
    known = {*BUILT_IN, *folders}
    for library in [*priority, *(prefer or {}).values()]:
        if library not in known:
            raise InvalidSelection(f"library: expected one of {', '.join(sorted(known))}, got '{library}'")
    united = by_priority(
        replace(table, folders=folders, files=tuple(files)), rows, _rank(priority, prefer or {})
    )
    for name, library in (prefer or {}).items():
        if name not in united.operators or united.operators[name].library != library:
            raise InvalidSelection(
                f"{name}: expected it in the preferred library '{library}', which lacks it"
            )
    return united


def _rank(priority: Sequence[str], prefer: Mapping[str, str]) -> Callable[[Operator], int]:
    def rank(row: Operator) -> int:
        if prefer.get(row.name) == row.library:
            return -1
        listed = list(priority)
        return listed.index(row.library) if row.library in listed else len(listed) + default_rank(row)

    return rank


def preferences(words: Iterable[str]) -> dict[str, str]:
    """{operator: library} from words such as "aten::add.out=portable"; aten is the default namespace."""
    prefer: dict[str, str] = {}
    for word in words:
        name, separator, library = (part.strip() for part in word.partition("="))
        if not separator or not name or not library:
            raise InvalidSelection(f"preferred library: expected operator=library, got '{word}'")
        prefer[name if "::" in name else f"aten::{name}"] = library
    return prefer


def _located(given: str, table: OperatorTable) -> _Where:
    name, separator, text = given.partition("=")
    if not separator or "/" in name:
        name, text = "", given
    path = Path(text)
    if path.is_dir():
        usual = [path / file for file in _USUAL_NAMES if (path / file).is_file()]
        found = usual[:1] or sorted(path.glob("*.yaml"))
        if len(found) != 1:
            raise InvalidSelection(
                f"library {path}: expected {_USUAL_NAMES[0]} or one other YAML file, got {len(found)}"
            )
        path = found[0]
    elif not path.is_file():
        raise InvalidSelection(f"library {path}: expected a file or folder, got neither")
    path = path.resolve()
    return _Where(name or _own_name(path), path, table, source_files(path.parent))


def _own_name(path: Path) -> str:
    content = load_yaml(path)
    said = content.get("library") if isinstance(content, dict) else None
    name = str(said or path.parent.name)
    return re.sub(r"\W", "_", name)


def _read(where: _Where) -> list[Operator]:
    content = load_yaml(where.path)
    if isinstance(content, dict):
        rows = _own_rows(content, where)
    elif isinstance(content, list):
        listed = [_official_row(entry, index, where) for index, entry in enumerate(content)]
        rows = [row for row in listed if row is not None and not _is_built_in(row, where.table)]
    else:
        raise InvalidSelection(
            f"{where.path}: expected a mapping with 'operators' or a list of `- func:` entries"
        )
    seen: set[str] = set()
    for row in rows:
        if row.name in seen:
            raise InvalidSelection(f"{where.path}: {row.name}: expected one row, got two")
        seen.add(row.name)
    check_kernels(rows, where.path)
    return rows


def _own_rows(content: Mapping[str, Any], where: _Where) -> list[Operator]:
    if unknown := content.keys() - _KEYS:
        raise InvalidSelection(
            f"{where.path}: expected keys of {', '.join(sorted(_KEYS))}, got '{min(map(str, unknown))}'"
        )
    api = content.get("api", "rushlight")
    if api not in ("rushlight", "executorch"):
        raise InvalidSelection(f"{where.path}: api: expected rushlight or executorch, got {api!r:.40}")
    sets = dtype_sets(content.get("dtypes") or {}, where.path, where.table.sets)
    built_in = {row.kernel for row in where.table.rows()}
    rows = []
    for item in content.get("operators") or []:
        row = replace(
            read_row({"source": "", **item} if isinstance(item, dict) else item, sets, where.path),
            of=where.name,
        )
        function = row.kernel
        source = row.source or defining_source(where.sources, function)
        if not source:
            raise InvalidSelection(
                f"{where.path}: {row.name}: expected a source in {where.path.parent} that defines {function}",
                next_step="Write it, or name the file: `source: file`, without .cpp.",
            )
        row = replace(row, source=source)
        if api == "executorch":
            rows.append(_in_front(row, (OfficialKernel(function),)))
            continue
        namespace, _, kernel = function.rpartition("::")
        if not namespace and kernel in built_in:
            raise InvalidSelection(
                f"{where.path}: {row.name}: expected a new kernel name in {KERNELS_NAMESPACE}, got {kernel}",
                next_step=f"Define it in another namespace: kernel: {where.name}::{kernel}",
            )
        rows.append(replace(row, kernel=kernel, namespace=namespace or KERNELS_NAMESPACE))
    return rows


def _official_row(entry: Any, index: int, where: _Where) -> Operator | None:
    """The operator of an entry; None for a functional overload, which programs never call."""
    location = f"{where.path}: entry {index}"
    named = (entry.get("func") or entry.get("op")) if isinstance(entry, dict) else None
    if not isinstance(named, str):
        raise InvalidSelection(f"{location}: expected a mapping with 'func' or 'op', got {entry!r:.120}")
    schema = _schema(named, where.table, location)
    if not any(argument.mutable for argument in schema.arguments):
        return None
    location = f"{where.path}: {schema.name}"
    entries = kernel_entries(entry, location, [argument.name for argument in schema.arguments])
    if not entries:
        raise InvalidSelection(f"{location}: expected 'kernels' with a kernel_name")
    kernels = tuple(OfficialKernel(_native(kernel.name), kernel.keys) for kernel in entries)
    if sum(not kernel.keys for kernel in kernels) > 1:
        raise InvalidSelection(f"{location}: expected one kernel without arg_meta, got two")
    every = any(not kernel.dtypes for kernel in entries)
    dtypes = frozenset(NUMBERS) if every else frozenset().union(*(kernel.dtypes for kernel in entries))
    sources = {defining_source(where.sources, kernel.function) for kernel in kernels}
    if len(sources) > 1:
        raise InvalidSelection(
            f"{location}: expected its kernels in one source, got {', '.join(sorted(sources))}"
        )
    return _in_front(Operator(schema, "", dtypes, sources.pop(), of=where.name), kernels)


def _is_built_in(row: Operator, table: OperatorTable) -> bool:
    """True if an entry names a kernel of ExecuTorch's own library, as its functions.yaml does: our kernel
    replaces it."""
    names = {kernel.function.rpartition("::")[0] for kernel in row.official}
    return not row.source and row.name in table.operators and names <= {"torch::executor::native"}


def _schema(text: str, table: OperatorTable, location: str) -> Schema:
    """The schema in the text, or the schema of the operator with this name in kernels/ops.yaml."""
    head = text.split("(", 1)[0]
    full = text.strip() if "::" in head else f"aten::{text.strip()}"
    if "(" in text:
        return parse_schema(full)
    if full not in table.operators:
        raise InvalidSelection(
            f"{location}: expected a known operator, got {full}",
            next_step="Write the whole schema: `- func: ns::name.out(...) -> ...`",
        )
    return table.operators[full].schema


def _native(name: str) -> str:
    """The C++ function of a kernel_name: ExecuTorch looks it up in the namespace `native` inside the given
    one."""
    namespace, _, function = name.rpartition("::")
    namespace = namespace or "at"
    return name if namespace.endswith("::native") else f"{namespace}::native::{function}"


def _in_front(row: Operator, kernels: tuple[OfficialKernel, ...]) -> Operator:
    """The row with a generated kernel that calls the official ones."""
    return replace(row, kernel=row.name.replace("::", "_").replace(".", "__"), official=kernels)


def _check_arguments(rows: Iterable[Operator]) -> None:
    """Checks that an operator has the same arguments in each library."""
    seen: dict[str, Operator] = {}
    for row in rows:
        first = seen.setdefault(row.name, row)
        if first.schema.cpp_signature() != row.schema.cpp_signature():
            raise InvalidSelection(
                f"{row.name}: expected the same arguments in libraries {first.library} and {row.library}"
            )
