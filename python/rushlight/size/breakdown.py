# SPDX-License-Identifier: BSD-3-Clause
"""Assigns each byte of flash and RAM in an executable to a symbol, file and component."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from rushlight.size.components import PADDING, UNKNOWN, Components, dtypes_of, operators_by_source
from rushlight.size.elf import Elf, Section, Symbol, demangled
from rushlight.size.linkmap import Piece

UNNAMED = "constants and strings"


@dataclass(frozen=True)
class Entry:
    """Bytes of one symbol, or of a part of an input section without symbol. `flash` is code, constants and
    initial values, `ram` writable data; `.data` counts in both. `operator` is empty for shared code,
    `dtype` for code that is not instantiated for a dtype."""

    symbol: str
    file: str
    component: str
    section: str
    flash: int
    ram: int
    operator: str = ""
    dtype: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def break_down(
    elf: Elf, pieces: list[Piece] | None, components: Components, selected: Iterable[str] | None
) -> list[Entry]:
    """Entries for all flash and RAM except the model; they add up to the sections. Without a link map
    (`pieces` None) files and components are unknown, and sections are split by symbols only."""
    symbols = sorted((s for s in elf.symbols if s.address and s.size), key=lambda s: s.address)
    operators = operators_by_source(selected)
    entries: list[Entry] = []
    for section in elf.sections:
        if section.memory not in ("flash", "ram", "flash+ram"):
            continue
        inside = _apart([p for p in pieces or () if p.section == section.name and _within(p, section)])
        if pieces is None:
            inside = [Piece(section.name, section.name, section.address, section.size, "", "")]
        for piece in inside:
            source = components.source(piece)
            component = UNKNOWN if pieces is None else components.of(piece)
            made = _entries(section, piece, symbols, source, component)
            entries += [replace(entry, operator=operators.get(source, "")) for entry in made]
        left = section.size - sum(piece.size for piece in inside)
        if left > 0:
            entries.append(_entry(section, PADDING, "", PADDING, left))
    return _readable(entries, elf.bits)


def _within(piece: Piece, section: Section) -> bool:
    return section.address <= piece.address and piece.address + piece.size <= section.address + section.size


def _apart(pieces: list[Piece]) -> list[Piece]:
    """The pieces without overlaps: the map lists merged strings for each of their users."""
    kept: list[Piece] = []
    covered = 0
    for piece in sorted(pieces, key=lambda piece: (piece.address, -piece.size)):
        first, end = max(piece.address, covered), piece.address + piece.size
        if end > first:
            kept.append(replace(piece, address=first, size=end - first))
            covered = end
    return kept


def _entries(
    section: Section, piece: Piece, symbols: list[Symbol], source: str, component: str
) -> Iterable[Entry]:
    end = piece.address + piece.size
    at = bisect_left(symbols, piece.address, key=lambda symbol: symbol.address)
    covered = piece.address
    while at < len(symbols) and symbols[at].address < end:
        symbol = symbols[at]
        first, last = max(symbol.address, covered), min(symbol.address + symbol.size, end)
        if last > first:
            yield _entry(section, symbol.name, source, component, last - first)
            if first > covered:
                yield _entry(section, UNNAMED, source, component, first - covered)
            covered = last
        at += 1
    if end > covered:
        name = PADDING if not piece.file and component == PADDING else UNNAMED
        yield _entry(section, name, source, component, end - covered)


def _entry(section: Section, name: str, source: str, component: str, size: int) -> Entry:
    flash = size if section.has_content else 0
    return Entry(name, source, component, section.name, flash, size if section.is_written else 0)


def _readable(entries: list[Entry], bits: int) -> list[Entry]:
    names = demangled([entry.symbol for entry in entries])
    return [
        replace(
            entry,
            symbol=name,
            dtype=dtypes_of(name, pointer_bits=bits) if entry.file.startswith("kernels/") else "",
        )
        for entry, name in zip(entries, names, strict=True)
    ]


def summed(entries: Iterable[Entry], key: Callable[[Entry], str]) -> dict[str, dict[str, int]]:
    """{"flash", "ram"} of the entries by key, largest flash first; entries with an empty key are left out."""
    sums: dict[str, dict[str, int]] = {}
    for entry in entries:
        if name := key(entry):
            row = sums.setdefault(name, {"flash": 0, "ram": 0})
            row["flash"] += entry.flash
            row["ram"] += entry.ram
    return dict(sorted(sums.items(), key=lambda item: (-item[1]["flash"], -item[1]["ram"], item[0])))
