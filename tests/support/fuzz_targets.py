# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz targets: their seed inputs, and their executions in a build."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from rushlight import process
from rushlight.program import read_program

ROOT = Path(__file__).resolve().parents[2]
INTEROP = ROOT / "tests" / "interop"
REGRESSIONS = ROOT / "tests" / "fuzz" / "regressions"

# Ten small programs that together have every feature of the format.
SEEDS = [
    "channels_last_conv",
    "cond_sum",
    "const_out",
    "dtype_bool",
    "dynamic_mlp",
    "kv_cache_renamed",
    "list_split_cat",
    "multi_method",
    "mutable_counter",
    "scan",
]
ENVIRONMENT = {
    "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
LARGEST_SEED = 50_000
MUTANT_SECONDS = 10
INPUT_SECONDS = 20


def of_versions(pattern: str) -> tuple[Path, ...]:
    """Files whose tables share vtables although their sizes differ."""
    return tuple(sorted(INTEROP.glob(f"of_versions/files/{pattern}")))


def payloads() -> tuple[Path, ...]:
    """The payloads of delegates in the repository's programs, each in a file of a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="payloads-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    found = []
    for path in sorted(INTEROP.glob("*/model_xnnpack.pte")):
        for plan in read_program(path).plans:
            for number, delegate in enumerate(plan.delegates):
                found.append(folder / f"{path.parent.name}-{plan.name}-{number}")
                found[-1].write_bytes(delegate.payload)
    return tuple(found)


@dataclass(frozen=True)
class Target:
    """One fuzz target: its name and its seed inputs."""

    name: str
    pattern: str = ""
    seeds: tuple[Path, ...] = ()
    inputs: int = 25_000
    """Number of inputs of libFuzzer in a short run: some five seconds."""

    def corpus(self) -> list[Path]:
        """Every small file of its kind in the repository."""
        files = [*INTEROP.glob(f"*/{self.pattern}"), *of_versions(self.pattern)] if self.pattern else []
        found = sorted((REGRESSIONS / self.name).glob("*"))
        files += [] if self.pattern else self.seeds
        return [path for path in sorted(files) if path.stat().st_size <= LARGEST_SEED] + found


TARGETS = [
    Target(
        "program", "*.pte", (*(INTEROP / name / "model.pte" for name in SEEDS), *of_versions("model*.pte"))
    ),
    Target("data", "*.ptd", (INTEROP / "external_ptd" / "weights.ptd", *of_versions("*.ptd"))),
    Target("bundled", "*.bpte", (INTEROP / "bundled" / "model.bpte", *of_versions("*.bpte"))),
    Target("delegate", seeds=payloads()),
    Target("operators", inputs=5_000),
    Target("calls", inputs=10_000),
]


@dataclass
class Run:
    """The result of one target."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


def replay(build: Path, target: Target) -> Path:
    """The program that runs inputs of the target one by one."""
    return build / "tests" / "fuzz" / f"fuzz_{target.name}_replay"


def run_mutants(build: Path, target: Target, count: int, seed: int, artifacts: Path) -> Run:
    """`count` mutants of the target's seeds, the same ones for the same `seed`."""
    words: list[str | Path] = [f"--mutants={count}", f"--seed={seed}", *target.seeds]
    return _replayed(build, target, count, words, artifacts)


def run_numbers(build: Path, target: Target, count: int, artifacts: Path) -> Run:
    """Runs the target on the first `count` integers as inputs."""
    return _replayed(build, target, count, [f"--numbers={count}"], artifacts)


def _replayed(build: Path, target: Target, count: int, words: list[str | Path], artifacts: Path) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command: list[str | os.PathLike[str]] = [
            replay(build, target),
            f"--seconds={MUTANT_SECONDS}",
            f"--json={report}",
            f"--artifacts={artifacts}",
        ]
        result = process.run([*command, *words], env=ENVIRONMENT, on_line=_show)
        if not report.exists():
            raise SystemExit(f"{target.name}: exit status {result.returncode}\n{result.stdout[-4000:]}")
        found = json.loads(report.read_text())
    failures = [f"{failure['kind']} {failure['number']}" for failure in found["failures"]]
    counts = {stage: found[stage] for stage in ("refused", "loaded", "executed")}
    return Run(target.name, count, result.seconds, failures, counts)


def run_libfuzzer(
    build: Path, target: Target, seconds: int, artifacts: Path, corpus: Path, *, seed: int = 0, runs: int = -1
) -> Run:
    """Runs libFuzzer on the repository's files and the files of the folder `corpus`, for `seconds` or `runs`
    inputs.

    A run with a `seed` makes the same inputs each time; 0 is another seed each time, which libFuzzer
    prints.
    """
    program = build / "tests" / "fuzz" / f"fuzz_{target.name}"
    if not program.exists():
        raise SystemExit(f"no {program}: it takes clang; ./dev fuzz installs and uses it")
    own = corpus / target.name
    own.mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(target.corpus()):
        shutil.copyfile(path, own / f"seed-{number}")
    limits = [
        f"-seed={seed}",
        f"-entropic={int(seed == 0)}",  # this schedule depends on the clock
        f"-runs={runs}",
        f"-max_total_time={seconds}",
        f"-timeout={INPUT_SECONDS}",
        "-rss_limit_mb=2560",
    ]
    length = f"-max_len={LARGEST_SEED if target.seeds else 256}"
    words = [*limits, length, "-print_final_stats=1", f"-artifact_prefix={artifacts}/{target.name}-"]
    result = process.run([program, *words, own], env=ENVIRONMENT, on_line=_show_some())
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", result.stdout)
    run = Run(target.name, int(executed[1]) if executed else 0, result.seconds)
    if result.returncode != 0:
        written = re.findall(r"Test unit written to (\S+)", result.stdout)
        run.failures = written or [f"exit status {result.returncode}"]
        print(result.stdout[-6000:], file=sys.stderr)
    return run


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _show_some():
    """Prints a line of libFuzzer's output every ten seconds."""
    last = 0.0

    def show(line: str) -> None:
        nonlocal last
        if line.startswith("#") and time.monotonic() - last > 10:
            last = time.monotonic()
            _show(line)

    return show
