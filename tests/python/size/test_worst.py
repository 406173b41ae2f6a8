# SPDX-License-Identifier: BSD-3-Clause
"""Call graphs, code without one, and the deepest way through them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight import process
from rushlight.size.callgraph import read_call_graph
from rushlight.size.disassembly import disassemble
from rushlight.size.worst import deepest

GRAPH = r"""graph: { title: "a.cpp"
node: { title: "a.cpp:_ZN1a4helpEv" label: "void a::help()\na.cpp:3:5\n24 bytes (static)" }
node: { title: "main" label: "int main()\na.cpp:9:5\n40 bytes (dynamic)\n2 dynamic objects\n x 4" }
node: { title: "memcpy" label: "void* memcpy()\nstring.h:1:1" shape : ellipse }
edge: { sourcename: "main" targetname: "a.cpp:_ZN1a4helpEv" label: "a.cpp:10:3" }
edge: { sourcename: "main" targetname: "memcpy" label: "a.cpp:11:3" }
edge: { sourcename: "main" targetname: "__indirect_call" label: "a.cpp:12:7" }
}
"""


def test_the_compilers_call_graph_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.ci").write_text(GRAPH)
    functions = read_call_graph(tmp_path / "a.ci")
    assert set(functions) == {"_ZN1a4helpEv", "main"}
    main = functions["main"]
    assert (main.frame, main.kind, main.calls) == (40, "dynamic", {"_ZN1a4helpEv", "memcpy"})
    assert main.indirect == {"a.cpp:12"}


def _deepest(calls: dict[int, list[int]], frames: dict[int, int], depths: dict[int, int] | None = None):
    return deepest(0, lambda n: calls.get(n, []), lambda n: frames[n], lambda n: (depths or {}).get(n, 1))


def test_the_deepest_way_is_found_and_told() -> None:
    chain = _deepest({0: [1, 2], 1: [3], 2: [3]}, {0: 8, 1: 100, 2: 40, 3: 16})
    assert (chain.bytes, chain.path, chain.recursive) == (124, (0, 1, 3), frozenset())


def test_a_recursion_counts_once_and_is_named() -> None:
    chain = _deepest({0: [1], 1: [2], 2: [1, 3]}, {0: 8, 1: 10, 2: 20, 3: 5})
    assert (chain.bytes, chain.recursive) == (43, frozenset({1, 2}))
    assert _deepest({0: [0]}, {0: 8}).recursive == frozenset({0})


def test_a_recursion_with_a_known_depth_counts_so_often() -> None:
    calls, frames = {0: [1], 1: [2], 2: [1, 3]}, {0: 8, 1: 10, 2: 20, 3: 5}
    chain = _deepest(calls, frames, {1: 4})
    assert (chain.bytes, chain.recursive) == (43 + 3 * 30, frozenset())
    # A cycle beside it is still a recursion.
    assert _deepest({**calls, 3: [3, 1]}, frames, {1: 4}).recursive == frozenset({1, 2, 3})


def test_too_many_ways_are_bounded_by_all_frames_together() -> None:
    nodes = range(14)
    chain = _deepest({n: [m for m in nodes if m != n] for n in nodes}, dict.fromkeys(nodes, 10))
    assert chain.bytes >= 140


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_no_way_without_repetition_is_deeper(edges: list[tuple[int, int]]) -> None:
    calls: dict[int, list[int]] = {}
    for a, b in edges:
        calls.setdefault(a, []).append(b)

    def longest(node: int, path: tuple[int, ...]) -> int:
        rest = [longest(m, (*path, m)) for m in calls.get(node, []) if m not in path]
        return (1 << node) + max(rest, default=0)

    assert _deepest(calls, {n: 1 << n for n in range(8)}).bytes == longest(0, (0,))


CODE = """
int other(int);
__attribute__((noinline)) int deep(int n) { volatile char all[500]; all[n] = 1; return other(n) + all[0]; }
__attribute__((noinline)) int through(int (*f)(int)) { return f(1) + 1; }
__attribute__((noinline)) int other(int);
int main() { return deep(3) + through(other); }
__attribute__((noinline)) int other(int n) { return n + 1; }
"""


@pytest.mark.parametrize(
    ("prefix", "machine", "bits", "flags"),
    [
        ("", "EM_X86_64", 64, []),
        ("arm-none-eabi-", "EM_ARM", 32, ["-mcpu=cortex-m4", "-mthumb"]),
        ("aarch64-linux-gnu-", "EM_AARCH64", 64, []),
        ("riscv64-unknown-elf-", "EM_RISCV", 32, ["-march=rv32imac", "-mabi=ilp32"]),
    ],
)
def test_frames_read_off_the_code_are_those_of_the_compiler(tmp_path, prefix, machine, bits, flags) -> None:
    from rushlight.size.elf import read_elf

    compiler = shutil.which(f"{prefix}gcc")
    if compiler is None:
        pytest.skip(f"no {prefix}gcc")
    (tmp_path / "a.c").write_text(CODE)
    freestanding = ["-ffreestanding", "-nostdlib", "-static", "-Wl,-e,main", "-fcf-protection=none"]
    command = [compiler, "-Os", *(freestanding if not prefix else freestanding[:-1]), *flags]
    process.run(
        [*command, "-fcallgraph-info=su", "-dumpbase", "a", "a.c", "-o", "a.elf"], cwd=tmp_path, check=True
    )
    (graph,) = (read_call_graph(path) for path in tmp_path.glob("*.ci"))
    elf = read_elf(tmp_path / "a.elf")
    functions = sorted((s.address, s.size) for s in elf.symbols if s.is_function)
    code = disassemble(elf.path, f"{prefix}objdump", machine, bits, functions)
    addresses = {s.name: s.address for s in elf.symbols}
    for name in ("deep", "through", "main", "other"):
        assert code[addresses[name]].frame == graph[name].frame, name
    assert (
        code[addresses["deep"]].calls == {addresses["other"]: "other"}
        and code[addresses["deep"]].frame >= 500
    )
    assert code[addresses["through"]].indirect == 1 and not code[addresses["deep"]].indirect
