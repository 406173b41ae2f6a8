# SPDX-License-Identifier: BSD-3-Clause
"""Compares the sizes of two builds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rushlight.size.breakdown import Entry
from rushlight.size.report import SizeReport


@dataclass(frozen=True)
class Change:
    """The bytes of a named item before and after."""

    name: str
    before: int
    after: int

    @property
    def delta(self) -> int:
        return self.after - self.before

    def __str__(self) -> str:
        return f"{self.name}: {self.before:,} -> {self.after:,} ({self.delta:+,})"


@dataclass(frozen=True)
class SizeDiff:
    """`totals` has each total, changed or not: flash, ram, arena, stack and so on. `components`, `operators`
    and `symbols` list changes of flash, `ram` changes of symbols in RAM, the largest change first."""

    totals: list[Change]
    components: list[Change]
    operators: list[Change]
    symbols: list[Change]
    ram: list[Change]

    def to_json(self) -> dict[str, Any]:
        return {
            name: [{"name": c.name, "before": c.before, "after": c.after, "delta": c.delta} for c in changes]
            for name, changes in vars(self).items()
        }


def diff(before: SizeReport, after: SizeReport) -> SizeDiff:
    """The difference of two reports, also of different targets."""
    totals = []
    for name in ("flash", "ram", "model", "weights", "arena"):
        totals.append(Change(name, getattr(before, name), getattr(after, name)))
    for name in ("stack_bytes", "stack_peak"):
        one, other = getattr(before, name), getattr(after, name)
        if one is not None and other is not None:
            totals.append(Change("stack" if name == "stack_bytes" else "stack measured", one, other))
    return SizeDiff(
        totals=totals,
        components=_changes(_flash(before.components), _flash(after.components)),
        operators=_changes(_flash(before.operators), _flash(after.operators)),
        symbols=_changes(_symbols(before.entries, "flash"), _symbols(after.entries, "flash")),
        ram=_changes(_symbols(before.entries, "ram"), _symbols(after.entries, "ram")),
    )


def _flash(sums: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: row["flash"] for name, row in sums.items()}


def _symbols(entries: Iterable[Entry], memory: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for entry in entries:
        where = f" ({entry.file})" if entry.file else ""
        name = f"{entry.symbol}{where}"
        sums[name] = sums.get(name, 0) + getattr(entry, memory)
    return sums


def _changes(before: Mapping[str, int], after: Mapping[str, int]) -> list[Change]:
    names = dict.fromkeys((*before, *after))
    changes = [Change(name, before.get(name, 0), after.get(name, 0)) for name in names]
    return sorted((c for c in changes if c.delta), key=lambda c: (-abs(c.delta), c.name))
