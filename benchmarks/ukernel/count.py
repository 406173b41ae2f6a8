# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of one call of microkernels on other machines, in QEMU, next to the plain C++
references of the tests.

    python benchmarks/ukernel/count.py                    # Markdown on stdout
    python benchmarks/ukernel/count.py --json FILE        # also the counts
    python benchmarks/ukernel/count.py --write            # also put the table into README.md beside this file
    python benchmarks/ukernel/count.py --machines rvv "gemm product"
    python benchmarks/ukernel/count.py --narrow           # products of 16-bit floats, with --write too

Needs the cross compilers and QEMU's user mode (`rushlight targets`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOST_SECONDS = 600
sys.path.append(str(ROOT / "tests"))

from rushlight import process, targets  # noqa: E402
from support import written  # noqa: E402


@dataclass(frozen=True)
class Machine:
    """A target, or its compiler with another toolchain file for a QEMU `cpu`. `variants` are its columns, by
    the names in ukernel_bench."""

    name: str
    target: str
    variants: dict[str, str]
    toolchain: str = ""
    cpu: str = ""

    def options(self) -> dict[str, str]:
        """CMake's cache entries that select it."""
        options = targets.get(self.target).toolchain
        return options | ({"CMAKE_TOOLCHAIN_FILE": str(ROOT / self.toolchain)} if self.toolchain else {})

    def emulator(self, program: Path) -> list[str]:
        """The command in front of the program."""
        qemu, *words = targets.get(self.target).command(program)[:-1]
        return [qemu, *words, *(["-cpu", self.cpu] if self.cpu else [])]  # the last one counts


MACHINES = (
    Machine("aarch64", "linux-aarch64", {"reference": "plain", "native": "NEON"}),
    Machine("armhf", "linux-armhf", {"reference": "plain", "native": "VFPv3", "neon": "NEON"}),
    Machine("riscv64", "linux-riscv64", {"reference": "plain", "native": "rv64gc"}),
    Machine(
        "rvv",
        "clang-linux-riscv64",
        {"reference": "plain (V)", "native": "rv64gcv"},
        toolchain="tests/kernels/ukernel/cross/linux-riscv64-v.cmake",
        cpu="rv64,v=true,vext_spec=v1.0,vlen=256",
    ),
)


# Products of float32, float16 and bfloat16 on one machine, whose processor has instructions for each.
NARROW = replace(MACHINES[0], cpu="max")
PRODUCTS = {
    "float32": ("gemm", "native"),
    "float16": ("gemm f16", "fp16fml"),
    "bfloat16": ("gemm bf16", "bf16"),
}


@dataclass(frozen=True)
class Count:
    """Guest instructions of one call. `flops` and `bytes` are its work, or 0 where that is not meaningful."""

    machine: str
    variant: str
    name: str
    instructions: int
    flops: int
    bytes: int


def build_plugin(folder: Path) -> Path:
    """Builds count_plugin.cpp for this machine."""
    plugin = folder / "count_plugin.so"
    folder.mkdir(parents=True, exist_ok=True)
    source = HERE / "count_plugin.cpp"
    process.run(["g++", "-O2", "-std=c++17", "-fPIC", "-shared", source, "-o", plugin], check=True)
    return plugin


def build_bench(machine: Machine, folder: Path) -> Path:
    """Builds ukernel_bench for a machine."""
    options = [f"-D{name}={value}" for name, value in machine.options().items()]
    if launcher := process.find_program("ccache"):
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    process.run(["cmake", "-S", HERE, "-B", folder, "-G", "Ninja", *options], check=True)
    process.run(["cmake", "--build", folder], check=True)
    return folder / "ukernel_bench"


def counts_of(
    plugin: Path, emulator: Sequence[str], command: Sequence[str], numbers: Path
) -> tuple[str, list[int]]:
    """Runs a command in QEMU's user mode. Returns its output and the instructions between each pair of marks,
    which the plugin writes into the file `numbers`."""
    done = process.run(
        [*emulator, "-plugin", f"{plugin},out={numbers}", *command], check=True, timeout=MOST_SECONDS
    )
    return done.stdout, [int(line) for line in numbers.read_text().split()]


def count(machine: Machine, plugin: Path, program: Path, part: str) -> list[Count]:
    """Runs the cases whose names contain `part`. The first case is empty: it measures the overhead of
    counting, which is subtracted."""
    command = [str(program), "--count", part]
    text, counts = counts_of(plugin, machine.emulator(program), command, program.with_name("counts.txt"))
    lines = text.splitlines()
    if len(lines) != len(counts):
        raise ValueError(f"{machine.name}: expected {len(lines)} counts, got {len(counts)}")
    rows = []
    for line, number in zip(lines[1:], counts[1:], strict=True):
        name, variant, flops, size = line.split("\t")
        rows.append(Count(machine.name, variant, name, number - counts[0], int(flops), int(size)))
    return rows


def to_markdown(counts: list[Count], machines: list[Machine]) -> str:
    """A row for each shape that all machines have."""
    columns = [(machine, variant) for machine in machines for variant in machine.variants]
    by_cell = {(each.machine, each.variant, each.name): each.instructions for each in counts}
    headings = [f"{machine.name}: {machine.variants[variant]}" for machine, variant in columns]
    lines = ["| of one call | " + " | ".join(headings) + " |", "|---|" + "---:|" * len(columns)]
    for name in dict.fromkeys(each.name for each in counts):
        cells = [by_cell.get((machine.name, variant, name)) for machine, variant in columns]
        if all(any(by_cell.get((m.name, v, name)) for v in m.variants if v != "reference") for m in machines):
            shown = ["" if cell is None else f"{cell:,}" for cell in cells]
            lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def narrow_markdown(counts: list[Count]) -> str:
    """A row for each product, a column for each dtype."""
    by_case = {(each.variant, each.name): each.instructions for each in counts}
    lines = ["| product | " + " | ".join(PRODUCTS) + " |", "|---|" + "---:|" * len(PRODUCTS)]
    for size in ("64x64x64", "256x256x256"):
        cells = [f"{by_case[variant, f'{family} product {size}']:,}" for family, variant in PRODUCTS.values()]
        lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", nargs="?", default="", help="only cases whose names contain this")
    parser.add_argument("--machines", nargs="*", default=[machine.name for machine in MACHINES])
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "ukernel", help="folder for builds")
    parser.add_argument("--narrow", action="store_true", help="count products of 16-bit floats on aarch64")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="put the table into README.md beside this file")
    options = parser.parse_args()
    machines = [machine for machine in MACHINES if machine.name in options.machines]
    if options.narrow:
        machines, options.part = [NARROW], "product"
    plugin = build_plugin(options.work)
    counts: list[Count] = []
    for machine in machines:
        print(f"{machine.name} ...", file=sys.stderr, flush=True)
        counts += count(machine, plugin, build_bench(machine, options.work / machine.name), options.part)
    markdown = narrow_markdown(counts) if options.narrow else to_markdown(counts, machines)
    print(markdown)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(each) for each in counts], indent=1) + "\n")
    if options.write:
        written.write(HERE / "README.md", "narrow" if options.narrow else "counts", markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
