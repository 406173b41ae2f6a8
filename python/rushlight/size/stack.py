# SPDX-License-Identifier: BSD-3-Clause
"""The maximum stack that a program can need, from the compiler's call graph.

A call through a pointer is resolved to its possible targets. Calls of the operator table reach the kernels
with their signature. Any other one reaches the functions whose addresses are taken by code below the same
kernel, or for the runtime by code outside of kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from rushlight.size.components import TABLE
from rushlight.size.linked import (
    ALLOWANCE,
    CODE,
    COMPILER,
    NOBODY,
    LinkedFunction,
    LinkedProgram,
    base_name,
)
from rushlight.size.worst import Deepest, deepest

_DISPATCH = re.compile(r"runtime/kernel/operator_table\.h:")
_UNKNOWN = -1  # stands for any unknown function
_UNPACKED = "rushlight::call_unpacked"
_TABLE_SOURCE = "operator_table.cpp"


# Maximum recursion depth by function: tables of a program file nest five deep by the schema; complex dtypes
# are promoted by their components, which are not complex.
_DEPTHS = {
    "rushlight::flatbuffer::(anonymous namespace)::Verifier::table": 5,
    "rushlight::promote_types": 2,
}


@dataclass(frozen=True)
class Step:
    """A function on the deepest path: its frame in bytes, and the source of that size ("compiler", "code",
    "unknown")."""

    function: str
    bytes: int
    known: str


@dataclass(frozen=True)
class StackBound:
    """Sizes in bytes. `worst_case` is from reset (for a hosted program: from main) along the deepest path,
    `path`, plus the needs of an interrupt; it is a bound unless `recursive`, `dynamic` or `assumed` name
    functions. `load` and `execute` are for the functions of Method, for applications that call them;
    `kernels` has the bytes of each kernel function.

    `recursive` functions count once, `dynamic` ones with their known part, and `assumed` ones, of which
    nothing is known, with 256 bytes each. `frames` has the number of frames by source.
    """

    worst_case: int
    root: str
    path: tuple[Step, ...]
    interrupt: int
    load: int
    execute: int
    kernels: dict[str, int]
    recursive: tuple[str, ...]
    dynamic: tuple[str, ...]
    assumed: tuple[str, ...]
    frames: dict[str, int] = field(default_factory=dict)

    @property
    def is_bound(self) -> bool:
        return not (self.recursive or self.dynamic or self.assumed)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_bound": self.is_bound}


def stack_bound(program: LinkedProgram, *, interrupt_frame: int = 0, red_zone: int = 0) -> StackBound | None:
    """The bound of a whole program; None without an entry function. `interrupt_frame` are the bytes that the
    core itself pushes for an interrupt, `red_zone` the bytes that functions may use below the stack
    pointer."""
    roots = program.named("rushlight_start") or program.named("main")
    return _Analysis(program).bound(roots[0], interrupt_frame, red_zone) if roots else None


class _Analysis:
    def __init__(self, program: LinkedProgram) -> None:
        self._program = program
        self._functions = program.functions
        self._taken: dict[int, set[int]] = {}
        self._problems: dict[str, set[str]] = {"recursive": set(), "dynamic": set(), "assumed": set()}
        self._frames = {COMPILER: 0, CODE: 0, NOBODY: 0}
        table = [f for f in self._functions.values() if f.component == TABLE]
        self._unpacked = {f.address for f in table if _UNPACKED in f.readable}
        self._kernels = self._kernels_of_table(table)
        unpacked = set().union(*(self._kernels_of(self._functions[a]) for a in self._unpacked))
        # Functions called by the executor: functions that unpack arguments, and kernels that do so
        # themselves.
        self._called = self._unpacked | (self._kernels - unpacked)
        self._visited: set[int] = set()
        self._outer: set[int] = set()  # targets of pointer calls outside of kernels

    def bound(self, root: LinkedFunction, interrupt_frame: int, red_zone: int) -> StackBound:
        self._outer = self._candidates([root.address]) - self._kernels - self._unpacked
        beneath = {address: self._deepest_kernel(address) for address in sorted(self._kernels)}
        whole = self._outside(root.address, beneath)
        ticks = [self._outside(f.address, beneath) for f in self._program.named("rushlight_tick")]
        interrupt = max((interrupt_frame + tick.bytes for tick in ticks), default=0)
        below = [Step("red zone", red_zone, CODE)] if red_zone else []
        return StackBound(
            worst_case=whole.bytes + interrupt + red_zone,
            root=base_name(root.readable),
            path=(*self._steps(whole.path, beneath), *below),
            interrupt=interrupt,
            load=self._most("rushlight::Method::load", beneath),
            execute=self._most("rushlight::Method::execute", beneath),
            kernels={
                base_name(self._functions[address].readable): chain.bytes
                for address, chain in sorted(beneath.items(), key=lambda item: -item[1].bytes)
            },
            **{name: tuple(sorted(found)) for name, found in self._problems.items()},
            frames=self._frames,
        )

    def _kernels_of_table(self, table: list[LinkedFunction]) -> set[int]:
        """The functions in the operator table, without functions that unpack arguments."""
        return {
            address
            for address in self._program.table_functions(_TABLE_SOURCE)
            if _UNPACKED not in self._functions[address].readable
        }

    def _most(self, name: str, beneath: dict[int, Deepest]) -> int:
        return max((self._outside(f.address, beneath).bytes for f in self._program.named(name)), default=0)

    def _deepest_kernel(self, address: int) -> Deepest:
        return self._deepest(address, self._candidates([address]), {})

    def _outside(self, address: int, beneath: dict[int, Deepest]) -> Deepest:
        return self._deepest(address, self._outer, beneath)

    def _deepest(self, root: int, candidates: set[int], beneath: dict[int, Deepest]) -> Deepest:
        def calls(address: int) -> Iterable[int]:
            return () if address in beneath else self._calls(address, candidates)

        def frame(address: int) -> int:
            if address == _UNKNOWN:
                return ALLOWANCE
            return beneath[address].bytes if address in beneath else self._functions[address].frame

        self._note(root, calls, beneath)
        chain = deepest(root, calls, frame, self._depth)
        direct = deepest(root, lambda a: () if a in beneath else self._functions[a].calls, frame, self._depth)
        self._problems["recursive"] |= {self._name(address) for address in direct.recursive}
        return chain

    def _calls(self, address: int, candidates: set[int]) -> set[int]:
        if address == _UNKNOWN:
            return set()
        function = self._functions[address]
        found = set(function.calls)
        for source in function.indirect:
            if address in self._unpacked:
                found |= self._kernels_of(function) or self._kernels
            elif _DISPATCH.search(source) or (not source and self._is_dispatch(function)):
                found |= self._called
            else:
                found |= candidates
            if not found - function.calls:
                self._problems["assumed"].add(f"what {self._name(address)} calls through a pointer")
                found.add(_UNKNOWN)
        return found | {_UNKNOWN} if function.unresolved else found

    def _is_dispatch(self, function: LinkedFunction) -> bool:
        """True for the executor's functions that dispatch instructions, for calls without a known line."""
        return base_name(function.readable).startswith(
            ("rushlight::Method::call_kernel", "rushlight::Method::execute")
        )

    def _kernels_of(self, unpacked: LinkedFunction) -> set[int]:
        """The kernels with the signature that `unpacked` is instantiated for."""
        signature = unpacked.readable.partition("(*)(")[2].partition(")>(")[0]
        return {a for a in self._kernels if self._functions[a].readable.endswith(f"({signature})")}

    def _candidates(self, roots: Iterable[int]) -> set[int]:
        """The functions whose addresses are taken by code below `roots`, including the code of these
        functions."""
        taken: set[int] = set()
        waiting, seen = list(roots), set()
        while waiting:
            address = waiting.pop()
            if address in seen or (address in self._kernels and address not in roots):
                continue
            seen.add(address)
            new = self._taken_by(address) - taken - self._kernels - self._unpacked
            taken |= new
            waiting += [*new, *self._functions[address].calls]
        return taken

    def _taken_by(self, address: int) -> set[int]:
        if address not in self._taken:
            found = self._program.taken_by(self._functions[address], [_TABLE_SOURCE])
            self._taken[address] = found
        return self._taken[address]

    def _note(self, root: int, calls: Any, beneath: dict[int, Deepest]) -> None:
        """Records the functions below `root` that prevent a bound."""
        waiting = [root]
        seen: set[int] = set()
        while waiting:
            address = waiting.pop()
            if address in seen or address in beneath or address == _UNKNOWN:
                continue
            seen.add(address)
            waiting += calls(address)
            if address in self._visited:
                continue
            self._visited.add(address)
            function = self._functions[address]
            self._frames[function.known] += 1
            if function.dynamic:
                self._problems["dynamic"].add(self._name(address))
            if function.known == NOBODY:
                self._problems["assumed"].add(self._name(address))
            for name in function.unresolved:
                self._problems["assumed"].add(name)

    def _depth(self, address: int) -> int:
        return 1 if address == _UNKNOWN else _DEPTHS.get(self._name(address), 1)

    def _name(self, address: int) -> str:
        return base_name(self._functions[address].readable)

    def _steps(self, path: Iterable[int], beneath: dict[int, Deepest]) -> Iterable[Step]:
        for address in path:
            if address in beneath:
                yield from self._steps(beneath[address].path, {})
            elif address == _UNKNOWN:
                yield Step("unknown functions", ALLOWANCE, NOBODY)
            else:
                function = self._functions[address]
                yield Step(self._name(address), function.frame, function.known)
