# SPDX-License-Identifier: BSD-3-Clause
"""Runs many cases on many targets, with one runner per target, and tabulates the results."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushlight import targets
from rushlight.build import BuildResult, build
from rushlight.build.cmake import Progress
from rushlight.codegen.options import FEATURES
from rushlight.codegen.table import load_table
from rushlight.errors import OutOfMemory, RushlightError
from rushlight.printable import escaped
from rushlight.program import describe, operator_uses, read_program
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.sources import source_root
from rushlight.targets.bare_metal import BareMetal


class Status(enum.Enum):
    """The result of a case on a target; the values are shown in tables."""

    PASSED = "pass"
    FAILED = "FAIL"
    REFUSED = "refused"
    DOES_NOT_FIT = "does not fit"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Entry:
    """One case on one target. `reason` is empty for PASSED; `seconds` is wall time without building."""

    case: str
    target: str
    status: Status
    reason: str = ""
    max_error: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Conformance:
    """Cases × targets, and the seconds of each target's build."""

    entries: list[Entry]
    build_seconds: dict[str, float]

    @property
    def passed(self) -> bool:
        """True if nothing failed; refused, skipped and too large cases count as passed."""
        return all(entry.status is not Status.FAILED for entry in self.entries)

    def count(self, target: str, status: Status) -> int:
        """The number of cases with this status on a target."""
        return sum(entry.target == target and entry.status is status for entry in self.entries)

    def to_json(self) -> dict[str, Any]:
        """The entries as JSON types."""
        entries = [
            {
                "case": entry.case,
                "target": entry.target,
                "status": entry.status.name.lower(),
                "reason": entry.reason,
                "max_error": entry.max_error,
                "seconds": round(entry.seconds, 3),
            }
            for entry in self.entries
        ]
        seconds = {target: round(value, 3) for target, value in self.build_seconds.items()}
        return {"entries": entries, "build_seconds": seconds}

    def to_markdown(self) -> str:
        """A table of cases × targets, the counts, and all reasons."""
        header, rows = self._table()
        lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([*lines, "", *[f"- {reason}" for reason in self._reasons()], ""])

    def to_html(self) -> str:
        """The same as a self-contained HTML page."""
        header, rows = self._table()
        cells = [["<th>" + escaped(cell) for cell in header]]
        for name, *row in rows:
            kinds = [cell.split()[0].strip("0123456789/").lower() for cell in row]
            shown = [f'<td class="{k}">{escaped(c)}' for k, c in zip(kinds, row, strict=True)]
            cells.append([f"<th>{escaped(name)}", *shown])
        table = "\n".join("<tr>" + "".join(row) for row in cells)
        reasons = "\n".join("<li>" + escaped(reason) for reason in self._reasons())
        return _PAGE.format(table=table, reasons=reasons)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        names = list(dict.fromkeys(entry.target for entry in self.entries))
        cases = dict.fromkeys(entry.case for entry in self.entries)
        found = {(entry.case, entry.target): entry.status.value for entry in self.entries}
        rows = [[case, *[found.get((case, name), "") for name in names]] for case in cases]
        counts = [f"{self.count(name, Status.PASSED)}/{len(cases)} pass" for name in names]
        return ["case", *names], [*rows, ["all", *counts]]

    def _reasons(self) -> list[str]:
        """The reasons, with one line for all targets that share a reason."""
        grouped: dict[tuple[str, str, str], list[str]] = {}
        for entry in self.entries:
            if entry.status is not Status.PASSED:
                key = (entry.case, entry.status.value, entry.reason)
                grouped.setdefault(key, []).append(entry.target)
        return [
            f"{case} ({', '.join(where)}): {status}: {reason}"
            for (case, status, reason), where in grouped.items()
        ]


_PAGE = """<!doctype html><meta charset="utf-8"><title>Conformance</title>
<style>
body {{ font: 14px sans-serif; margin: 2em }} table {{ border-collapse: collapse }}
th, td {{ padding: 2px 10px; border-bottom: 1px solid #ddd; text-align: left; font-weight: normal }}
.pass {{ background: #e3f5e3 }} .fail {{ background: #f6c5c5 }}
.refused, .does, .skipped {{ background: #eee }}
</style>
<table>
{table}
</table>
<ul>
{reasons}
</ul>
"""


def find_cases(folder: Path) -> list[Path]:
    """The programs below a folder with a case.json beside them."""
    return sorted(path for path in folder.rglob("*.pte") if path.with_name("case.json").is_file())


def run_conformance(
    models: Sequence[Path],
    names: Iterable[str],
    output: Path,
    *,
    root: Path | None = None,
    progress: Progress | None = None,
) -> Conformance:
    """Runs the case beside each program on each target. Cases are named by their paths below `root`.

    Each target gets one runner, built below `output`, with the operators of all programs. Errors:
    UnknownTarget, and the errors of building.
    """
    entries: list[Entry] = []
    seconds: dict[str, float] = {}
    labels = {model: str(model.relative_to(root)) if root else str(model) for model in models}
    refused = {model: reason for model in models if (reason := _refusal(model))}
    fit = [model for model in models if model not in refused]
    for name in names:
        target = targets.get(name)
        if target.build_only or (missing := target.requirements()):
            reason = target.build_only or "this machine has no " + ", ".join(item.name for item in missing)
            entries += [Entry(labels[model], name, Status.SKIPPED, reason) for model in models]
            continue
        built = None
        if target.kind != "host" and fit:
            built = build(
                fit,
                target=name,
                output=output / name,
                defines={FEATURES: "data-files"},
                progress=progress,
            )
            seconds[name] = built.seconds
        for model in models:
            if model in refused:
                entries.append(Entry(labels[model], name, Status.REFUSED, refused[model]))
            else:
                entries.append(_run_one(labels[model], model, target, built))
    return Conformance(entries, seconds)


def _refusal(model: Path) -> str:
    """The reason why no runner can be built for a program; empty if one can."""
    program = read_program(model)
    backends = sorted({delegate.id for plan in program.plans for delegate in plan.delegates})
    if backends:
        return "BackendNotFound: " + ", ".join(backends)
    known = load_table(source_root() / "kernels" / "ops.yaml").operators
    missing = sorted(set(operator_uses(program)) - set(known))
    return "OperatorNotFound: " + ", ".join(missing) if missing else ""


def _run_one(label: str, model: Path, target: targets.Target, built: BuildResult | None) -> Entry:
    try:
        outcome = run(model, load_case(model.with_name("case.json")), target=target.name, built=built)
    except OutOfMemory as error:
        return Entry(label, target.name, Status.DOES_NOT_FIT, _needs(model, target) or error.message)
    except RushlightError as error:
        reason = " ".join(f"{type(error).__name__}: {error.message}".split())
        return Entry(label, target.name, Status.FAILED, reason)
    status = Status.PASSED if outcome.passed else Status.FAILED
    reason = "; ".join(outcome.reasons)
    return Entry(label, target.name, status, reason, outcome.max_error, outcome.seconds)


def _needs(model: Path, target: targets.Target) -> str:
    """The reason why a program does not fit the board: compares its size and planned memory with the banks
    for them."""
    if not isinstance(target, BareMetal):
        return ""
    planned = sum(
        buffer["bytes"]
        for method in describe(read_program(model))["methods"]
        for buffer in method["planned_memory"]
    )
    name = target.banks()["arena"]
    (bank,) = (bank for bank in target.description()["memory"] if bank["name"] == name)
    return (
        f"{planned} bytes of planned memory and {model.stat().st_size} bytes of program; "
        f"bank {name} of {target.board} has {bank['bytes']}"
    )
