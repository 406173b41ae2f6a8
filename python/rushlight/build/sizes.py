# SPDX-License-Identifier: BSD-3-Clause
"""How many bytes of flash and RAM a linked program takes, read from its section headers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight.errors import MissingDependency

MODEL_SECTION = ".model"

_WRITE = 1
_ALLOCATE = 2


@dataclass(frozen=True)
class Sizes:
    """Bytes. `flash` is what is programmed, without the embedded model; `ram` is static data, zeroed or
    not, without arenas and stack; `model` is the embedded program; `sections` has each section's own."""

    flash: int
    ram: int
    model: int
    sections: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def read_sizes(executable: Path) -> Sizes:
    """The sizes of an ELF file. Sections without memory on the target do not count; areas that only
    reserve room for the stack or arenas (their names say so) are not static data."""
    try:
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise MissingDependency("pyelftools", "build") from error
    flash = ram = model = 0
    sections: dict[str, int] = {}
    with executable.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            flags, size = section["sh_flags"], section["sh_size"]
            if not flags & _ALLOCATE or size == 0:
                continue
            sections[section.name] = size
            if section.name == MODEL_SECTION:
                model += size
                continue
            if section.name in (".stack", ".arena", ".heap"):
                continue
            has_content = section["sh_type"] != "SHT_NOBITS"
            flash += size if has_content else 0
            ram += size if flags & _WRITE else 0
    return Sizes(flash, ram, model, sections)
