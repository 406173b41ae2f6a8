# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of models and operators on 64-bit Arm, in QEMU, beside ONNX Runtime and the
official runtime with XNNPACK: a comparison of NEON code without an Arm machine.

    python benchmarks/speed/instructions.py --make-peers             # fetches the peers' packages for Arm
    python benchmarks/speed/instructions.py --models                 # Markdown on stdout
    python benchmarks/speed/instructions.py --only resnet18 "mm 256"
    python benchmarks/speed/instructions.py --models --unseen --operators --write   # also into README.md

Each contestant runs on one thread of an emulated Cortex-A76: NEON, float16 and products of int8. All
instructions of the third execution count, also in the runtime and in libm. Instructions take different times,
so that a ratio here says less than a ratio of times. Outputs are compared with PyTorch's. Counts are kept in
the folder of --work, by what was executed: an interrupted run goes on, and after a change of rushlight only
rushlight is counted again. Needs what run.py needs here, the cross compiler and QEMU's user mode
(`rushlight targets`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "ukernel"))

import numpy as np
from contestants import OnnxRuntime, read_arrays
from count import MACHINES, build_plugin, counts_of
from crew import Failed, WorkerProcess
from measuring import relative_error
from preparing import file_name, folder_for, prepare
from results import geometric_mean, tolerance_of
from rich.console import Console
from subjects import SUBJECTS, kind_of

from rushlight import process
from rushlight.errors import CommandFailed
from support import written

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EMULATED = HERE / "emulated"
# NEON, float16 and products of int8, as most phones and boards with Linux have; no SVE.
MACHINE = replace(next(each for each in MACHINES if each.name == "aarch64"), cpu="cortex-a76")
CPU_FEATURES = "fp asimd evtstrm crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
PROGRAMS = {
    "rushlight": ("rushlight", "rushlight.pte"),
    "rushlight, official program": ("rushlight", "official.pte"),
    "rushlight, lowered program": ("rushlight", "xnnpack.pte"),
    "ExecuTorch XNNPACK": ("official", "xnnpack.pte"),
}
"""Contestants that execute programs: the runtime below count_module, and the file."""
ONNX = "ONNX Runtime"
NAMES = (*PROGRAMS, ONNX)
PEERS = ("ExecuTorch XNNPACK", ONNX)
PACKAGES = ("executorch", "onnxruntime", "numpy")
# Debian's packages of Python for Arm, and of the libraries that it and the peers link.
DEBIAN = (
    "libc6", "libexpat1", "libffi8", "libgcc-s1", "libpython3.11-minimal", "libpython3.11-stdlib",
    "libstdc++6", "python3.11-minimal", "zlib1g",
)  # fmt: skip


@dataclass
class Row:
    """A subject: the counts and the errors of its contestants, and why others have none."""

    name: str
    kind: str
    counts: dict[str, int] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def right(self, name: str) -> int | None:
        """The count of a contestant with right outputs."""
        return self.counts.get(name) if self.errors.get(name, 1.0) <= tolerance_of(self.kind) else None

    def best_peer(self) -> tuple[str, int] | None:
        """The peer with the fewest instructions."""
        found = [(name, count) for name in PEERS if (count := self.right(name)) is not None]
        return min(found, key=lambda pair: pair[1], default=None)

    def ratio(self, name: str) -> float | None:
        """The instructions of a contestant over the count of the best peer."""
        count, peer = self.right(name), self.best_peer()
        return count / peer[1] if count is not None and peer else None


def make_peers(folder: Path) -> None:
    """Puts the peers' packages for 64-bit Arm, and a Python to run them, into `folder`."""
    pins = ["-c", str(ROOT / "tests" / "constraints.txt")]
    platforms = [word for minor in (17, 27, 28) for word in ("--platform", f"manylinux_2_{minor}_aarch64")]
    wheels = ["--no-deps", "--only-binary=:all:", "--python-version", "3.11", *platforms]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--upgrade", *wheels, *pins]
    process.run([*pip, "--target", str(folder / "site"), *PACKAGES], check=True)
    lists, debs = folder / "lists", folder / "debs"
    for each in (lists / "partial", debs / "archives" / "partial"):
        each.mkdir(parents=True, exist_ok=True)
    # A list of packages apart from the system's, which may not have this architecture.
    settings = {
        "APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Sandbox::User": "root",
        "Dir::State::lists": lists, "Dir::State::status": "/dev/null", "Dir::Cache": debs,
    }  # fmt: skip
    apt = ["apt-get", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]
    process.run([*apt, "update", "-qq"], check=True)
    process.run([*apt, "download", "-qq", *DEBIAN], cwd=debs, check=True)
    for package in sorted(debs.glob("*.deb")):
        process.run(["dpkg", "-x", package, folder / "root"], check=True)
    describe_cpus(folder / "root" / "proc" / "cpuinfo")


def describe_cpus(path: Path) -> None:
    """Writes what Linux would say of the emulated processor. Without this, the peers read the lines of the
    machine that emulates, choose kernels for an unknown core, or crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n".join(
            f"processor\t: {number}\nFeatures\t: {CPU_FEATURES}\nCPU implementer\t: 0x41\n"
            "CPU architecture: 8\nCPU variant\t: 0x4\nCPU part\t: 0xd0b\nCPU revision\t: 1\n"
            for number in range(os.cpu_count() or 1)
        )
    )


def build(folder: Path, peers: Path) -> dict[str, Path]:
    """Builds count_module on both runtimes."""
    common = {**MACHINE.options(), "CMAKE_BUILD_TYPE": "Release", "Python_EXECUTABLE": sys.executable}
    if launcher := process.find_program("ccache"):
        common |= {"CMAKE_C_COMPILER_LAUNCHER": launcher, "CMAKE_CXX_COMPILER_LAUNCHER": launcher}
    own = {"RUSHLIGHT_FOLDER": str(ROOT), "RUSHLIGHT_BUILD": "no-runner", "EXECUTORCH_BUILD_XNNPACK": "ON"}
    official = {"executorch_DIR": str(peers / "site" / "executorch" / "share" / "cmake")}
    found = {}
    for runtime, entries in (("rushlight", own), ("official", official)):
        output = folder / f"count-{runtime}"
        options = [f"-D{name}={value}" for name, value in (common | entries).items()]
        process.run(["cmake", "-S", EMULATED, "-B", output, "-G", "Ninja", *options], check=True)
        process.run(["cmake", "--build", output, "--target", "count_module"], check=True)
        found[runtime] = output / "count_module"
    return found


class KeptCounts:
    """Counts, and errors of outputs, by a digest of the files that gave them, in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.is_file() else []
        self._found: dict[str, tuple[int, float]] = {
            key: (count, error) for key, count, error in map(json.loads, lines)
        }

    def get(self, files: Sequence[Path], count: Callable[[], tuple[int, float]]) -> tuple[int, float]:
        """The kept pair of these files; otherwise counts, and keeps the pair."""
        digests = [hashlib.sha256(each.read_bytes()).hexdigest() for each in files]
        key = hashlib.sha256(" ".join(digests).encode()).hexdigest()
        if key not in self._found:
            self._found[key] = count()
            with self._path.open("a") as file:
                file.write(json.dumps([key, *self._found[key]]) + "\n")
        return self._found[key]


class Counter:
    """Counts the contestants `names` on subjects, with files in `work`."""

    def __init__(self, work: Path, peers: Path, names: Sequence[str]) -> None:
        self._peers, self._names = peers, names
        self._plugin = build_plugin(work)
        self._modules = build(work, peers)
        self._kept = KeptCounts(work / "counts.jsonl")
        self._python = peers / "root" / "usr" / "bin" / "python3.11"

    def row(self, name: str, folder: Path, missing: dict[str, str]) -> Row:
        """Counts all contestants on the subject whose files are in `folder`."""
        row = Row(name, kind_of(name), failures=dict(missing))
        expected = read_arrays(folder / "expected.npz")
        for contestant in self._names:
            if contestant in missing:
                continue
            try:
                measure = partial(self._measured, contestant, folder, expected)
                pair = self._kept.get(self._files(contestant, folder), measure)
            except (CommandFailed, ValueError) as error:
                row.failures[contestant] = str(error).strip().splitlines()[-1]
            else:
                row.counts[contestant], row.errors[contestant] = pair
        return row

    def _files(self, contestant: str, folder: Path) -> list[Path]:
        """The files that a contestant executes on a subject: runtime, model and inputs."""
        if contestant == ONNX:
            runtime = sorted((self._peers / "site").glob("onnxruntime-*.dist-info/METADATA"))
            return [*runtime, EMULATED / "count_onnx.py", *self._onnx_models(folder), folder / "inputs.npz"]
        runtime_name, file = PROGRAMS[contestant]
        return [self._modules[runtime_name], folder / file, folder / "inputs.npz"]

    def _measured(self, contestant: str, folder: Path, expected: list[np.ndarray]) -> tuple[int, float]:
        count, outputs = self._count(contestant, folder, expected)
        return count, relative_error(outputs, expected)

    def _onnx_models(self, folder: Path) -> list[Path]:
        return [folder / name for name in OnnxRuntime.files if (folder / name).is_file()]

    def _count(
        self, contestant: str, folder: Path, expected: Sequence[np.ndarray]
    ) -> tuple[int, list[np.ndarray]]:
        with tempfile.TemporaryDirectory() as temporary:
            here = Path(temporary)
            if contestant == ONNX:
                counts = (self._onnx(each, folder, here) for each in self._onnx_models(folder))
                return min(counts, key=lambda pair: pair[0])
            runtime, file = PROGRAMS[contestant]
            inputs, outputs = here / "inputs", here / "outputs"
            inputs.write_bytes(b"".join(each.tobytes() for each in read_arrays(folder / "inputs.npz")))
            module = self._modules[runtime]
            command = [str(module), str(folder / file), str(inputs), str(outputs)]
            count = self._run(self._emulator(module), command, here)
            return count, list(_split(outputs.read_bytes(), expected))

    def _onnx(self, model: Path, folder: Path, here: Path) -> tuple[int, list[np.ndarray]]:
        """Counts in the emulated Python, whose libraries are below the root of its packages."""
        outputs = here / "outputs.npz"
        environment = {"PYTHONHOME": "/usr", "PYTHONPATH": str(self._peers / "site")}
        settings = [word for pair in environment.items() for word in ("-E", "=".join(pair))]
        emulator = [*self._emulator(self._python), *settings]
        command = [self._python, EMULATED / "count_onnx.py", model, folder / "inputs.npz", outputs]
        return self._run(emulator, [str(word) for word in command], here), read_arrays(outputs)

    def _emulator(self, program: Path) -> list[str]:
        """QEMU with the peers' root in front of the system's files. The last of equal options counts."""
        return [*MACHINE.emulator(program), "-L", str(self._peers / "root")]

    def _run(self, emulator: Sequence[str], command: Sequence[str], here: Path) -> int:
        """The instructions between the second pair of marks, less the count of an empty pair."""
        _, (empty, count) = counts_of(self._plugin, emulator, command, here / "counts")
        return count - empty


def _split(data: bytes, like: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """Arrays of the dtypes and shapes of `like` from their bytes. Error: ValueError for another length."""
    if len(data) != sum(each.nbytes for each in like):
        raise ValueError(f"outputs: expected {sum(each.nbytes for each in like)} bytes, got {len(data)}")
    at = 0
    for each in like:
        yield np.frombuffer(data, each.dtype, each.size, at).reshape(each.shape)
        at += each.nbytes


def to_markdown(rows: Sequence[Row], versions: dict[str, str]) -> str:
    """A table of counts in thousands, worst ratio last column; then means and remarks."""
    heads = ["", *NAMES, "ratio", "best peer"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " --: |" * (len(heads) - 1)]
    for row in rows:
        cells = [_cell(row, name) for name in NAMES]
        peer, ratio = row.best_peer(), row.ratio("rushlight")
        last = [f"{ratio:.2f}×" if ratio else "", peer[0] if peer else ""]
        lines.append("| " + " | ".join([row.name, *cells, *last]) + " |")
    means = [geometric_mean([each for row in rows if (each := row.ratio(name))]) for name in NAMES]
    shown = [f"{mean:.2f}×" if mean else "" for mean in means]
    lines.append("| " + " | ".join(["*geometric mean of ratios*", *shown, "", ""]) + " |")
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    remarks = [f"- One thread of QEMU's {MACHINE.cpu}; {packages}."]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        for name, why in row.failures.items():
            reasons.setdefault(f"{name} does not run {{}}: {why[:160]}", []).append(row.name)
    remarks += [f"- {text.replace('{}', ', '.join(names), 1)}" for text, names in reasons.items()]
    note = (
        "Thousands of instructions. Ratio: rushlight's count over the least count of a peer. † differs "
        "from PyTorch by over 0.0001 times the largest magnitude; in no ratio."
    )
    return "\n".join([note, "", *lines, "", *remarks])


def _cell(row: Row, name: str) -> str:
    if name not in row.counts:
        return "–"
    return f"{row.counts[name] / 1e3:,.0f}" + ("" if row.right(name) is not None else " †")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--make-peers", action="store_true", help="fetch the peers' packages into --arm-peers"
    )
    for group, kinds in GROUPS.items():
        parser.add_argument(
            f"--{group}", action="store_true", help=f"all subjects of kind {', '.join(kinds)}"
        )
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these models and operators")
    parser.add_argument(
        "--contestants",
        nargs="+",
        metavar="NAME",
        choices=NAMES,
        default=NAMES,
        help="selected contestants (default: all): " + "; ".join(NAMES),
    )
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="interpreter that exports")
    parser.add_argument(
        "--arm-peers", type=Path, default=ROOT / "build" / "arm-peers", help="folder of the peers for Arm"
    )
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "speed", help="folder for models")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="put the table into README.md beside this file")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in SUBJECTS]:
        parser.error(f"subjects: expected some of {', '.join(SUBJECTS)}, got {', '.join(unknown)}")
    return options


GROUPS = {"models": ("model",), "unseen": ("unseen",), "operators": ("compute", "memory")}


def main() -> int:
    options = _arguments()
    if options.make_peers:
        make_peers(options.arm_peers)
    asked = {kind for group, kinds in GROUPS.items() if getattr(options, group) for kind in kinds}
    names = list(dict.fromkeys([*options.only, *(name for name in SUBJECTS if kind_of(name) in asked)]))
    if not names:
        return 0
    console = Console(stderr=True)
    console.print("building count_module ...")
    counter = Counter(options.work, options.arm_peers, options.contestants)
    rows = []
    away = {"PYTHONPATH": ""} if options.peers != sys.executable else {}
    with WorkerProcess(sys.executable) as own, WorkerProcess(options.peers, env=away) as peers:
        home = folder_for(options.work, peers.ask("packages"))
        for name in names:
            folder = home / file_name(name)
            try:
                missing = prepare(name, folder, options.contestants, own, peers)
            except Failed as error:
                rows.append(
                    Row(name, kind_of(name), failures={each: str(error) for each in options.contestants})
                )
                continue
            rows.append(row := counter.row(name, folder, missing))
            shown = ", ".join(f"{each} {count / 1e3:,.0f}" for each, count in row.counts.items())
            ratio = row.ratio("rushlight")
            console.print(f"{name}: {f'{ratio:.2f}×; ' if ratio else ''}{shown}", highlight=False)
    versions = {
        name: path.name.removeprefix(f"{name}-").removesuffix(".dist-info")
        for name in PACKAGES
        for path in (options.arm_peers / "site").glob(f"{name}-*.dist-info")
    }
    markdown = to_markdown(rows, versions)
    print(markdown)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    if options.write:
        written.write(HERE / "README.md", "instructions", markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
