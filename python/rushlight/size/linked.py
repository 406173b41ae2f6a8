# SPDX-License-Identifier: BSD-3-Clause
"""A linked program as a graph of functions: frames, calls, and which code takes which addresses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rushlight.size.callgraph import Function, read_call_graph
from rushlight.size.components import Components
from rushlight.size.disassembly import Code, disassemble
from rushlight.size.elf import Elf, demangled
from rushlight.size.linkmap import Piece
from rushlight.size.objects import References, read_references

COMPILER, CODE, NOBODY = "compiler", "code", "unknown"

ALLOWANCE = 256
"""The stack bytes assumed for an unknown function."""


@dataclass
class LinkedFunction:
    """A function by its address. `known` tells the source of its frame: COMPILER, CODE (read from the
    instructions) or NOBODY. `calls` are addresses; `indirect` are source lines of calls through pointers,
    "" if the line is unknown."""

    address: int
    name: str
    readable: str
    component: str
    origin: tuple[str, str]  # object and input section
    frame: int = ALLOWANCE
    known: str = NOBODY
    dynamic: bool = False
    calls: set[int] = field(default_factory=set)
    indirect: set[str] = field(default_factory=set)
    unresolved: set[str] = field(default_factory=set)


class LinkedProgram:
    """All functions of an executable."""

    def __init__(self, elf: Elf, pieces: list[Piece], components: Components, objdump: str) -> None:
        self._pieces = sorted((p for p in pieces if p.file and p.address), key=lambda p: p.address)
        self._starts = [piece.address for piece in self._pieces]
        self._components = components
        self._by_name: dict[str, set[int]] = {}
        self._by_origin: dict[tuple[str, str], set[int]] = {}
        self._references: dict[str, dict[str, References]] = {}
        self._addresses = {name: s.address for s in elf.symbols if s.address for name in s.names}
        self._is_dynamic = any(section.name == ".dynamic" for section in elf.sections)
        self.functions = self._listed(elf)
        self._fill(elf, objdump)

    def named(self, part: str) -> list[LinkedFunction]:
        """Functions whose readable name without arguments is `part`."""
        return [f for f in self.functions.values() if base_name(f.readable) == part]

    def taken_by(self, function: LinkedFunction, besides: Iterable[str] = ()) -> set[int]:
        """The functions whose addresses `function` takes, in its code or in data that it refers to, except
        through the data of sources that end in one of `besides`."""
        found: set[int] = set()
        waiting, seen = [function.origin], set()
        while waiting:
            section_of = waiting.pop()
            references = self._of(section_of[0]).get(section_of[1])
            if section_of in seen or references is None:
                continue
            seen.add(section_of)
            for section in references.sections:
                self._follow((section_of[0], section), found, waiting)
            for name in references.symbols:
                if name in self._by_name:
                    found |= self._by_name[name]
                elif (piece := self._at(self._addresses.get(name, 0))) is not None:
                    origin = self._origin(piece)
                    if not any(self._components.source(piece).endswith(end) for end in besides):
                        waiting.append(origin)
        return found

    def table_functions(self, source: str) -> set[int]:
        """The functions whose addresses are in the data of the object of `source`: kernels and functions that
        unpack their arguments."""
        found: set[int] = set()
        for piece in self._pieces:
            if self._components.source(piece).endswith(f"generated/{source}"):
                references = self._of(self._origin(piece)[0]).get(piece.name, References())
                if not piece.name.startswith(".text"):
                    for name in references.symbols:
                        found |= self._by_name.get(name, set())
                    for section in references.sections:
                        found |= self._by_origin.get((self._origin(piece)[0], section), set())
        return found

    def _follow(self, section_of: tuple[str, str], found: set[int], waiting: list[tuple[str, str]]) -> None:
        if section_of in self._by_origin:
            found |= self._by_origin[section_of]
        elif not section_of[1].startswith(".text"):
            waiting.append(section_of)

    def _of(self, object_file: str) -> dict[str, References]:
        if object_file not in self._references:
            path = Path(object_file)
            self._references[object_file] = read_references(path) if path.is_file() else {}
        return self._references[object_file]

    def _at(self, address: int) -> Piece | None:
        index = bisect_right(self._starts, address) - 1
        if index < 0 or not address:
            return None
        piece = self._pieces[index]
        return piece if address < piece.address + piece.size else None

    def _origin(self, piece: Piece) -> tuple[str, str]:
        path = self._components.object_file(piece)
        return (str(path) if path else f"{piece.archive}({piece.file})", piece.name)

    def _listed(self, elf: Elf) -> dict[int, LinkedFunction]:
        symbols = [s for s in elf.symbols if s.is_function and s.address]
        functions = {}
        for symbol, readable in zip(symbols, demangled([s.name for s in symbols]), strict=True):
            piece = self._at(symbol.address)
            if piece is None:
                continue
            origin = self._origin(piece)
            component = self._components.of(piece)
            function = LinkedFunction(symbol.address, symbol.name, readable, component, origin)
            functions[symbol.address] = function
            self._by_origin.setdefault(origin, set()).add(symbol.address)
            for name in symbol.names:
                self._by_name.setdefault(name, set()).add(symbol.address)
        return functions

    def _fill(self, elf: Elf, objdump: str) -> None:
        extents = self._extents({s.address: s.size for s in elf.symbols if s.is_function})
        self._function_extents, self._extent_starts = extents, [address for address, _ in extents]
        code = disassemble(elf.path, objdump, elf.machine, elf.bits, extents)
        names = {s.address: s.names for s in elf.symbols if s.is_function}
        graphs: dict[str, dict[str, Function]] = {}
        for function in self.functions.values():
            graph = graphs.setdefault(function.origin[0], _graph(function.origin[0]))
            told = next((graph[name] for name in names[function.address] if name in graph), None)
            if told is not None:
                self._told(function, told)
            elif function.address in code:
                self._read(function, code[function.address])

    def _extents(self, sizes: dict[int, int]) -> list[tuple[int, int]]:
        """(address, size) of all functions; an assembler function without a size extends to the next function
        or the end of its section."""
        addresses = sorted(self.functions)
        extents = []
        for address, after in zip(addresses, [*addresses[1:], 1 << 64], strict=True):
            piece = self._at(address)
            assert piece is not None
            end = min(after, piece.address + piece.size)
            extents.append((address, sizes[address] or end - address))
        return extents

    def _told(self, function: LinkedFunction, told: Function) -> None:
        function.frame, function.known = told.frame, COMPILER
        function.dynamic = told.kind == "dynamic"
        function.indirect = set(told.indirect)
        for name in told.calls:
            addresses = self._by_name.get(name, set())
            near = {a for a in addresses if self.functions[a].origin[0] == function.origin[0]}
            function.calls |= near or addresses
            # An undefined symbol of a static program is weak and never called.
            if not addresses and (self._is_dynamic or name in self._addresses):
                function.unresolved.add(name)

    def _read(self, function: LinkedFunction, code: Code) -> None:
        function.frame, function.known, function.dynamic = code.frame, CODE, code.dynamic
        if function.name.startswith(("__riscv_save", "__riscv_restore")):
            function.frame, function.dynamic = 0, False  # they work in their caller's frame
        function.indirect = {""} if code.indirect else set()
        for address, name in code.calls.items():
            index = bisect_right(self._extent_starts, address) - 1
            begin, size = self._function_extents[index] if index >= 0 else (0, 0)
            if begin <= address < begin + size:
                function.calls.add(begin)
            else:
                function.unresolved.add(name or hex(address))


def _graph(object_file: str) -> dict[str, Function]:
    """The compiler's call graph of an object: method.cpp.ci for method.cpp.obj."""
    path = Path(object_file)
    beside = path.with_suffix(".ci")
    return read_call_graph(beside) if path.is_file() and beside.is_file() else {}


def base_name(readable: str) -> str:
    """A readable name without result, arguments and clone suffix: "rushlight::Method::load"."""
    depth = 0
    start = 0
    for at, character in enumerate(readable):
        if character in "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif character == "(" and depth == 0 and not readable.startswith("(anonymous", at):
            return readable[start:at]
        elif character == " " and depth == 0 and not readable.startswith("(anonymous namespace", at - 10):
            start = at + 1
    return readable[start:] if "(" in readable else readable
