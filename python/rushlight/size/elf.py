# SPDX-License-Identifier: BSD-3-Clause
"""Reads an ELF file's sections, symbols with their sizes, and machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushlight import process
from rushlight.build.sizes import MODEL_SECTION, RESERVED_SECTIONS
from rushlight.errors import InvalidArgument, MissingDependency

FORBIDDEN = re.compile(
    r"""_Zn[wa] | _Zd[la]                                         # operator new and delete
    | (malloc | calloc | realloc | reallocarray | free | aligned_alloc | posix_memalign | strdup)$
    | _?sbrk$
    | __cxa_(throw | rethrow | allocate | free | begin | end | get_exception | call | guard | atexit)
    | __gxx_personality | _Unwind_ | __aeabi_unwind | __register_frame
    | _ZTI | _ZTS | __dynamic_cast                                # run-time type information
    | _ZNSt | _ZNKSt | _ZSt                                       # parts of the C++ library that link""",
    re.VERBOSE,
)
"""Symbols of the heap, of exceptions and of the C++ library, which a device does not need."""


@dataclass(frozen=True)
class Section:
    """An output section with memory on the target. `has_content`: it has bytes in the file."""

    name: str
    address: int
    size: int
    has_content: bool
    is_written: bool

    @property
    def memory(self) -> str:
        """ "model", "reserved" (stack and the like), or "flash", "ram", "flash+ram"."""
        if self.name == MODEL_SECTION:
            return "model"
        if self.name in RESERVED_SECTIONS:
            return "reserved"
        return "+".join(["flash"] * self.has_content + ["ram"] * self.is_written)


@dataclass(frozen=True)
class Symbol:
    """A function or an object. `address` excludes the bit that marks Thumb code; `names` are all mangled
    names of the address."""

    name: str
    address: int
    size: int
    is_function: bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class Elf:
    """`machine` is pyelftools' name: EM_ARM, EM_RISCV, EM_X86_64, EM_AARCH64; `flags` come from the ELF
    header."""

    path: Path
    machine: str
    bits: int
    flags: int
    sections: list[Section]
    symbols: list[Symbol]

    def forbidden(self) -> list[str]:
        """The symbols of the heap, of exceptions and of the C++ library, by name."""
        names = {name for symbol in self.symbols for name in symbol.names}
        return sorted(name for name in names if FORBIDDEN.match(name))


def read_elf(path: Path) -> Elf:
    """Errors: InvalidArgument for a file that is not a linked ELF file, MissingDependency."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise MissingDependency("pyelftools", "build") from error
    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            return Elf(path, elf["e_machine"], elf.elfclass, elf["e_flags"], _sections(elf), _symbols(elf))
    except OSError as error:
        raise InvalidArgument(f"{path}: {error.strerror}") from error
    except ELFError as error:
        raise InvalidArgument(f"{path}: expected an ELF file: {error}") from error


def _sections(elf: Any) -> list[Section]:
    found = []
    for section in elf.iter_sections():
        flags, size = section["sh_flags"], section["sh_size"]
        if flags & 2 and size:
            content = section["sh_type"] != "SHT_NOBITS"
            found.append(Section(section.name, section["sh_addr"], size, content, bool(flags & 1)))
    return found


def _symbols(elf: Any) -> list[Symbol]:
    """One symbol per address and kind, the largest at each; undefined ones (of a shared library) have address
    0."""
    thumb = elf["e_machine"] == "EM_ARM"
    symbols_at: dict[tuple[int, bool], list[tuple[int, str]]] = {}
    for table in (".symtab", ".dynsym"):
        section = elf.get_section_by_name(table)
        for symbol in section.iter_symbols() if section else ():
            kind, index = symbol["st_info"]["type"], symbol["st_shndx"]
            if kind not in ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE", "STT_GNU_IFUNC") or not symbol.name:
                continue
            if kind == "STT_NOTYPE" and (symbol.name[0] == "$" or symbol.name.startswith(".L")):
                continue
            is_function = kind in ("STT_FUNC", "STT_GNU_IFUNC")
            address = 0 if index == "SHN_UNDEF" else symbol["st_value"]
            address -= address & 1 if thumb and is_function else 0
            symbols_at.setdefault((address, is_function), []).append((symbol["st_size"], symbol.name))
    symbols = []
    for (address, is_function), listed in sorted(symbols_at.items()):
        if address == 0:
            symbols += [Symbol(name, 0, 0, is_function, (name,)) for _, name in listed]
            continue
        size, name = max(listed, key=lambda item: (item[0], item[1]))
        names = tuple(dict.fromkeys(name for _, name in listed))
        symbols.append(Symbol(name, address, size, is_function, names))
    return symbols


def demangled(names: list[str]) -> list[str]:
    """C++ names in readable form, by c++filt; unchanged without it."""
    wanted = sorted({name for name in names if name.startswith("_Z")})
    tool = process.find_program("c++filt") or process.find_program("llvm-cxxfilt")
    if not wanted or tool is None:
        return list(names)
    lines = process.run([tool], input="\n".join(wanted) + "\n", check=True).stdout.splitlines()
    readable = dict(zip(wanted, lines, strict=True))
    return [readable.get(name, name) for name in names]
