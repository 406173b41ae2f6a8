# SPDX-License-Identifier: BSD-3-Clause
"""Measures the flash and RAM of a linked program in bytes, from its section headers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight.build.wasm import WASM_MAGIC, read_wasm_sections
from rushlight.errors import MissingDependency

MODEL_SECTION = ".model"
RESERVED_SECTIONS = (".stack", ".arena", ".heap")
"""Sections that reserve memory for the stack and arenas."""

_WRITE = 1
_ALLOCATE = 2


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes. `flash` is the programmed data without the embedded model; `ram` is static data, zeroed
    or not, without arenas and stack; `model` is the embedded program; `sections` has the size of each
    section."""

    flash: int
    ram: int
    model: int
    sections: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def read_sizes(executable: Path) -> Sizes:
    """The sizes of an ELF file or a WebAssembly module. Sections without memory on the target do not count;
    sections that reserve memory for the stack or arenas, recognized by name, are not static data."""
    with executable.open("rb") as stream:
        if stream.read(len(WASM_MAGIC)) == WASM_MAGIC:
            return _wasm_sizes(read_wasm_sections(executable))
    flash = ram = model = 0
    sections: dict[str, int] = {}
    for section in _sections(executable):
        sections[section.name] = section.size
        if section.name == MODEL_SECTION:
            model += section.size
            continue
        if section.name in RESERVED_SECTIONS:
            continue
        flash += section.size if section.has_content else 0
        ram += section.size if section.is_written else 0
    return Sizes(flash, ram, model, sections)


def _wasm_sizes(sections: dict[str, int]) -> Sizes:
    """All sections of a module count as flash; its initial data, constants included, also take RAM."""
    return Sizes(sum(sections.values()), sections.get("data", 0), 0, sections)


def read_object_size(path: Path) -> int:
    """Bytes of code, constants and initial data in an ELF object, without unwinding tables, which device
    builds drop."""
    unwinding = (".eh_frame", ".ARM.ex")
    return sum(
        section.size
        for section in _sections(path)
        if section.has_content and not section.name.startswith(unwinding)
    )


@dataclass(frozen=True)
class _Section:
    name: str
    size: int
    has_content: bool
    is_written: bool


def _sections(path: Path) -> Iterator[_Section]:
    """The sections that take memory on the target."""
    try:
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise MissingDependency("pyelftools", "build") from error
    with path.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            flags, size = section["sh_flags"], section["sh_size"]
            if flags & _ALLOCATE and size:
                has_content = section["sh_type"] != "SHT_NOBITS"
                yield _Section(section.name, size, has_content, bool(flags & _WRITE))
