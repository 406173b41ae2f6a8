# SPDX-License-Identifier: BSD-3-Clause
"""The operator table, kernels/ops.yaml, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rushlight.codegen.schema import Schema, parse_schema
from rushlight.errors import InvalidSelection, MissingDependency
from rushlight.program.dtypes import NUMBERS

_ROW_KEYS = {"schema", "kernel", "dtypes", "index_dtypes", "source", "tolerance"}


@dataclass(frozen=True)
class Operator:
    """One row: the C++ function `kernel` in kernels/<source>.cpp computes in `dtypes`. Tensors of positions,
    pivots or counts may be of `index_dtypes` besides."""

    schema: Schema
    kernel: str
    dtypes: frozenset[str]
    source: str
    tolerance: Mapping[str, float] = field(default_factory=dict)
    index_dtypes: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The operator's full name."""
        return self.schema.name

    @property
    def library(self) -> str:
        """The folder of kernels/ that has it."""
        return self.source.split("/")[0]


@dataclass(frozen=True)
class OperatorTable:
    """All rows by operator name, in the file's order."""

    path: Path
    operators: Mapping[str, Operator]

    @property
    def libraries(self) -> list[str]:
        """The folders of kernels/ that rows name."""
        return sorted({operator.library for operator in self.operators.values()})

    def source_path(self, operator: Operator) -> Path:
        """The C++ file of the operator's kernel."""
        return self.path.parent / f"{operator.source}.cpp"


def load_yaml(path: Path) -> Any:
    """The content of a YAML file, read with the C parser where PyYAML has it.

    Errors: MissingDependency; InvalidSelection for a file that is not there or is no YAML.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingDependency("pyyaml", "build") from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_bytes(), Loader=loader)
    except OSError as error:
        raise InvalidSelection(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidSelection(f"{path} is no YAML: {error}") from error


def load_table(path: Path) -> OperatorTable:
    """Read an operator table. Errors: InvalidSelection naming the file and the row."""
    content = load_yaml(path)
    if not isinstance(content, dict) or not {"dtypes", "operators"} <= content.keys():
        raise InvalidSelection(f"{path}: expected a mapping with 'dtypes' and 'operators'")
    sets = _dtype_sets(content["dtypes"], path)
    operators: dict[str, Operator] = {}
    for row in content["operators"] or []:
        operator = _operator(row, sets, path)
        if operator.name in operators:
            raise InvalidSelection(f"{path}: {operator.name} has two rows")
        operators[operator.name] = operator
    _check_kernels(operators, path)
    return OperatorTable(path, operators)


def _dtype_sets(content: Any, path: Path) -> dict[str, frozenset[str]]:
    sets: dict[str, frozenset[str]] = {}
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


def _operator(row: Any, sets: Mapping[str, frozenset[str]], path: Path) -> Operator:
    if not isinstance(row, dict) or not {"schema", "kernel"} <= row.keys():
        raise InvalidSelection(f"{path}: expected a row with 'schema' and 'kernel', found {row!r:.120}")
    schema = parse_schema(row["schema"])
    where = f"{path}: {schema.name}"
    if unknown := row.keys() - _ROW_KEYS:
        known = ", ".join(sorted(_ROW_KEYS))
        raise InvalidSelection(f"{where}: unknown key '{min(unknown)}'; a row has {known}")
    if "dtypes" not in row and schema.has_tensor:
        raise InvalidSelection(f"{where}: takes tensors and names no dtypes")
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
    )


def _check_kernels(operators: Mapping[str, Operator], path: Path) -> None:
    """Rows may share a kernel; then they share its signature, as it is declared once."""
    seen: dict[str, Operator] = {}
    for operator in operators.values():
        first = seen.setdefault(operator.kernel, operator)
        if first.schema.cpp_signature() != operator.schema.cpp_signature():
            raise InvalidSelection(
                f"{path}: {first.name} and {operator.name} name the kernel {operator.kernel} "
                "with different arguments"
            )
