# SPDX-License-Identifier: BSD-3-Clause
"""Checks a program against a budget of bytes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushlight.codegen.table import load_table
from rushlight.documents import read_yaml
from rushlight.errors import InvalidArgument, OverBudget
from rushlight.size.diff import diff
from rushlight.size.report import SizeReport, read_report
from rushlight.sources import source_root

TOTALS = ("flash", "ram", "stack", "arena", "model")
_GROUPS = {"components": "components", "rooms": "components", "operators": "operators"}
"""Groups of limits by their keys in a file; `rooms` is the older spelling of `components`."""
_UNITS = {"": 1, "B": 1, "kB": 1000, "KiB": 1024, "MB": 1000**2, "MiB": 1024**2}
_NAMED = 5


@dataclass(frozen=True)
class Limit:
    """At most `bytes` of `memory` ("flash" or "ram") for `name` in `group`: "components", "operators", or ""
    for the whole program, with `name` one of TOTALS."""

    group: str
    name: str
    memory: str
    bytes: int

    def __str__(self) -> str:
        return f"{self.name} {self.memory}".strip()


@dataclass(frozen=True)
class Budget:
    """Limits, and the report of an earlier build for naming what has grown."""

    limits: tuple[Limit, ...]
    before: SizeReport | None = None

    @property
    def needs_stack(self) -> bool:
        return any(limit.name == "stack" and not limit.group for limit in self.limits)


def read_budget(path: Path) -> Budget:
    """Reads a budget file in the format of docs/size.md. Error: InvalidArgument with the invalid key."""
    content = read_yaml(path, what="budget")
    if not isinstance(content, dict) or not content:
        got = type(content).__name__
        raise InvalidArgument(f"budget {path}: expected limits, such as 'flash: 40000', got {got}")
    known = (*TOTALS, *dict.fromkeys(_GROUPS.values()), "before")
    for key in content:
        if key not in known and key not in _GROUPS:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InvalidArgument(f"budget {path}: expected one of {', '.join(known)}, got '{key}'{hint}")
    before = content.get("before")
    return Budget(
        tuple(_limits(content, f"budget {path}")), read_report(path.parent / str(before)) if before else None
    )


def _limits(content: Mapping[str, Any], where: str) -> Iterator[Limit]:
    for name in TOTALS:
        if name in content:
            yield Limit("", name, "", _bytes(content[name], f"{where}: {name}"))
    for key, group in _GROUPS.items():
        rows = content.get(key) or {}
        if not isinstance(rows, dict):
            raise InvalidArgument(f"{where}: {key}: expected a mapping of names to bytes, got {rows!r:.60}")
        for name, row in rows.items():
            limits = row if isinstance(row, dict) else {"flash": row}
            for memory, value in limits.items():
                if memory not in ("flash", "ram"):
                    raise InvalidArgument(f"{where}: {key}: {name}: expected flash or ram, got '{memory}'")
                yield Limit(group, str(name), memory, _bytes(value, f"{where}: {key}: {name}"))


def _bytes(value: Any, where: str) -> int:
    """A number of bytes, or a text with a unit: 40000, "39 KiB"."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kKM]?i?B)?", str(value).replace("_", "").replace(",", ""))
    if isinstance(value, bool) or found is None or (found[2] or "") not in _UNITS:
        raise InvalidArgument(f"{where}: expected bytes, such as 40000 or 39 KiB, got '{value}'")
    return int(float(found[1]) * _UNITS[found[2] or ""])


def check_budget(report: SizeReport, budget: Budget, before: SizeReport | None = None) -> None:
    """Errors: OverBudget with each exceeded limit, the excess, and the parts that have grown since `before`
    or are largest; InvalidArgument for limits that the report has no value for."""
    earlier = before or budget.before
    over = []
    lines = []
    for limit in budget.limits:
        taken = _taken(report, limit)
        if taken > limit.bytes:
            over.append((str(limit), limit.bytes, taken))
            lines.append(
                f"{limit}: {taken:,} bytes, {taken - limit.bytes:,} over the {limit.bytes:,} allowed"
            )
            lines += [f"  {line}" for line in _blamed(report, limit, earlier)]
    if over:
        raise OverBudget("over budget\n" + "\n".join(f"  {line}" for line in lines), over)


def _taken(report: SizeReport, limit: Limit) -> int:
    if limit.group == "components":
        return _in_components(report, limit)
    if limit.group == "operators":
        if limit.name not in load_table(source_root() / "kernels" / "ops.yaml").operators and not any(
            limit.name in listed.split(", ") for listed in report.operators
        ):
            raise InvalidArgument(
                f"budget: expected the name of an operator, got '{limit.name}'",
                next_step="`rushlight kernels` lists the operators.",
            )
        rows = (row for names, row in report.operators.items() if limit.name in names.split(", "))
        return sum(row[limit.memory] for row in rows)
    if limit.name == "stack":
        if report.stack_bytes is None:
            raise InvalidArgument(
                f"budget: stack: expected a build with a known stack, got {'; '.join(report.unknown)}",
                next_step="Build with -D RUSHLIGHT_FEATURES=call-graph, or leave out the limit.",
            )
        return report.stack_bytes
    taken: int = getattr(report, limit.name)
    return taken


def _in_components(report: SizeReport, limit: Limit) -> int:
    rows = [row for component, row in report.components.items() if _is_in(component, limit.name)]
    if not rows and not (source_root() / limit.name).is_dir():
        near = difflib.get_close_matches(limit.name, report.components, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InvalidArgument(
            f"budget: expected a component of this program, got '{limit.name}'{hint}",
            next_step="`rushlight size` lists the components.",
        )
    return sum(row[limit.memory] for row in rows)


def _is_in(component: str, name: str) -> bool:
    return component == name or component.startswith(name + "/")


def _blamed(report: SizeReport, limit: Limit, before: SizeReport | None) -> list[str]:
    """The parts that have grown, most first; without an earlier build, the largest parts."""
    if limit.name in ("stack", "arena"):
        return _blamed_memory(report, limit.name, before)
    memory = limit.memory or ("ram" if limit.name == "ram" else "flash")
    entries = [entry for entry in report.entries if _counts(entry.component, entry.operator, limit)]
    if before is None:
        largest = sorted(entries, key=lambda entry: -getattr(entry, memory))[:_NAMED]
        return [f"takes most: {getattr(e, memory):,} {e.symbol} ({e.file})" for e in largest]
    names = {f"{e.symbol} ({e.file})" if e.file else e.symbol for e in entries}
    changes = diff(before, report).ram if memory == "ram" else diff(before, report).symbols
    grown = [change for change in changes if change.delta > 0 and change.name in names][:_NAMED]
    return [f"grew: {change}" for change in grown]


def _counts(component: str, operator: str, limit: Limit) -> bool:
    if limit.group == "components":
        return _is_in(component, limit.name)
    return limit.group == "" or limit.name in operator.split(", ")


def _blamed_memory(report: SizeReport, name: str, before: SizeReport | None) -> list[str]:
    if name == "stack" and report.stack is not None:
        steps = sorted(report.stack.path, key=lambda step: -step.bytes)[:_NAMED]
        earlier = {s.function: s.bytes for s in before.stack.path} if before and before.stack else {}
        return [
            f"on the way: {step.bytes:,} {step.function}"
            + (
                f" (was {earlier[step.function]:,})"
                if earlier.get(step.function, step.bytes) != step.bytes
                else ""
            )
            for step in steps
        ]
    methods = sorted(report.methods, key=lambda method: -method.total)[:_NAMED] if name == "arena" else []
    return [f"{m.model} {m.method}: arena {m.method_arena:,}, planned {list(m.planned)}" for m in methods]
