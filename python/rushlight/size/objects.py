# SPDX-License-Identifier: BSD-3-Clause
"""Finds the code that takes addresses of functions, from the relocations of a build's objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Relocations of direct calls and jumps, by machine; any other relocation to a function takes its address.
_CALLS = {
    "EM_ARM": {10, 28, 29, 30, 51, 102, 103},
    "EM_RISCV": {16, 17, 18, 19, 44, 45},
    "EM_X86_64": {4},
    "EM_AARCH64": {279, 280, 282, 283},
}


@dataclass
class References:
    """References of an input section other than calls: sections of the same object by name, and symbols of
    other objects."""

    sections: set[str] = field(default_factory=set)
    symbols: set[str] = field(default_factory=set)


def read_references(path: Path) -> dict[str, References]:
    """The references of each section of an ELF object."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection

    found: dict[str, References] = {}
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        calls = _CALLS.get(elf["e_machine"], set())
        names = [section.name for section in elf.iter_sections()]
        symbols = _symbols(elf, names)
        for section in elf.iter_sections():
            if not isinstance(section, RelocationSection):
                continue
            name = names[section["sh_info"]]
            if name.startswith((".debug", ".eh_frame", ".ARM.ex", ".stack_sizes", ".llvm")):
                continue
            references = found.setdefault(name, References())
            for relocation in section.iter_relocations():
                if relocation["r_info_type"] not in calls and relocation["r_info_sym"] < len(symbols):
                    addend = relocation["r_addend"] if section.is_RELA() else 0
                    _add(references, symbols[relocation["r_info_sym"]], addend)
    return found


@dataclass(frozen=True)
class _Symbol:
    """`name` is empty for symbols with internal linkage; `section` is in the same object, or empty."""

    name: str
    section: str
    kind: str


def _symbols(elf: Any, names: list[str]) -> list[_Symbol]:
    table = elf.get_section_by_name(".symtab")
    listed = []
    for symbol in table.iter_symbols() if table else ():
        index = symbol["st_shndx"]
        seen = symbol["st_info"]["bind"] != "STB_LOCAL"
        section = names[index] if isinstance(index, int) else ""
        listed.append(_Symbol(symbol.name if seen else "", section, symbol["st_info"]["type"]))
    return listed


def _add(references: References, symbol: _Symbol, addend: int) -> None:
    if symbol.section.startswith(".text"):
        # Labels within a function are jump targets; only its start is its address.
        begins = symbol.kind == "STT_SECTION" and addend in (0, -4)
        if symbol.kind not in ("STT_FUNC", "STT_GNU_IFUNC") and not begins:
            return
    if symbol.section:
        references.sections.add(symbol.section)
    if symbol.name:
        references.symbols.add(symbol.name)
