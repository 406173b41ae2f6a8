#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Seeds the faults of faults.yaml one by one in a copy of the checkout and says which of them tests see.

    python tests/faults/run.py                     all of them
    python tests/faults/run.py --only a,b --json   two of them
    python tests/faults/run.py --folder python     those below a folder
    python tests/faults/run.py --write             the table of README.md too

The copy lies in build/faults/tree and stays, with its build: the next run compiles what changed. One beside
the checkout (--tree) shares ccache's objects with it. Each run of tests is first made without a fault, since
one that fails anyway sees nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import written
from support.faults_table import BINARIES, ROOT, Fault, read, told_by

TREE = ROOT / "build" / "faults" / "tree"
RESULTS = ROOT / "build" / "faults" / "results.json"
README = Path(__file__).with_name("README.md")
LIMIT = 900.0
"""Seconds that a run of tests may take with a fault."""

LEFT_OUT = {"build", "dist", "out", "rushlight-build", "__pycache__"}
"""At the root: what is made there."""

# Takes away the finder of an editable installation, which would import the checkout instead of the copy.
SITE = """\
import sys
sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
"""


class Broken(Exception):
    """The table, the tests or the build are wrong, whatever the fault."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a fault: `seen_by` is the test command that failed, empty if none did."""

    name: str
    file: str
    seen_by: str
    seconds: float

    @property
    def killed(self) -> bool:
        return bool(self.seen_by)


class Copy:
    """A copy of the checkout, with its build."""

    def __init__(self, tree: Path, jobs: int) -> None:
        self.tree, self.jobs = tree, jobs
        self.build_folder = tree / "build" / "tests"
        self.site = tree / "build" / "site"

    def update(self) -> None:
        """Copies the checkout's files; unchanged files keep their time stamps."""
        wanted = set()
        for folder, folders, files in os.walk(ROOT):
            left_out = LEFT_OUT if Path(folder) == ROOT else {"__pycache__"}
            folders[:] = [name for name in folders if name not in left_out and not name.startswith(".")]
            here = Path(folder).relative_to(ROOT)
            for name in files:
                if name.endswith(".so") or (here == Path() and name.startswith(".git")):
                    continue
                source, target = ROOT / here / name, self.tree / here / name
                wanted.add(target)
                content = source.read_bytes()
                if not target.is_file() or target.read_bytes() != content:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
                    shutil.copymode(source, target)
        for folder, folders, files in os.walk(self.tree):
            folders[:] = [name for name in folders if Path(folder) / name != self.tree / "build"]
            for path in (Path(folder) / name for name in files):
                if path not in wanted and path.suffix not in (".so", ".pyc"):
                    path.unlink()
        self.site.mkdir(parents=True, exist_ok=True)
        (self.site / "sitecustomize.py").write_text(SITE)

    def take_module(self, builds: tuple[str, ...]) -> None:
        """Gives Python the module that is built here where `builds` has it, otherwise the installed one: the
        two are built with other options."""
        if "rushlight_python" in builds:
            (module,) = self.build_folder.rglob("_runtime.cpython*.so")
        else:
            found = importlib.util.find_spec("rushlight._runtime")
            if found is None or found.origin is None:
                raise SystemExit("rushlight._runtime: not installed; CONTRIBUTING.md says how")
            module = Path(found.origin)
        shutil.copy2(module, self.tree / "python" / "rushlight" / module.name)

    def run(self, words: list[str], limit: float = LIMIT) -> tuple[int | None, str]:
        """The exit status (None: it took too long) of a command, and what it printed."""
        called = next(self.build_folder.rglob("kernel_call.cpython*.so"), "")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.site), str(self.tree / "python")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUSHLIGHT_TEST_BUILD": str(self.build_folder),
            "RUSHLIGHT_KERNEL_CALL": str(called),
            "CCACHE_BASEDIR": "/",
            "CCACHE_NOHASHDIR": "1",
        }
        with subprocess.Popen(
            words,
            cwd=self.tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                printed, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                return None, process.communicate()[0]
            return process.returncode, printed

    def build(self, targets: tuple[str, ...]) -> None:
        """Builds targets. Error: Broken with the compiler's words."""
        if not targets:
            return
        if not (self.build_folder / "build.ninja").is_file():
            python = f"-DPython_EXECUTABLE={sys.executable}"
            status, printed = self.run(["cmake", "--preset", "tests", python])
            if status != 0:
                raise Broken(printed[-3000:])
        words = ["cmake", "--build", str(self.build_folder), "-j", str(self.jobs), "--target", *targets]
        status, printed = self.run(words, 3600)
        if status != 0:
            wrong = [line for line in printed.splitlines() if "error" in line]
            raise Broken("\n".join(line[:400] for line in wrong[:5] or printed.splitlines()[-5:]))

    def fails(self, words: tuple[str, ...], builds: tuple[str, ...]) -> bool:
        """Returns whether the tests fail. Error: Broken if nothing ran, or everything was skipped."""
        if words[0] in BINARIES:
            (program,) = (path for path in self.build_folder.rglob(words[0]) if path.is_file())
            status, printed = self.run([str(program), *(f"--gtest_filter={word}" for word in words[1:])])
            ran = "[==========] 0 tests" not in printed
        else:
            self.take_module(builds)
            quiet = ["-q", "-x", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
            status, printed = self.run([sys.executable, "-m", "pytest", *quiet, *words])
            # 5: nothing was collected. A fault may well break what tests import: 2, 3 and 4 are failures.
            ran = status != 5 and (status != 0 or " passed" in printed)
        if not ran:
            raise Broken(f"{' '.join(words)}: nothing ran:\n{printed[-1000:]}")
        return status != 0


class Runner:
    """Tries faults in a copy. `broken` has the test commands that fail or run nothing without a fault."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        self.broken: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}

    def prepare(self, faults: list[Fault]) -> None:
        """Makes each run of tests without a fault. Error: Broken where the copy cannot be built."""
        self.copy.build(tuple(sorted({target for fault in faults for target in fault.builds})))
        for words, builds in dict.fromkeys(
            (words, fault.builds) for fault in faults for words in fault.tests
        ):
            try:
                if self.copy.fails(words, builds):
                    self.broken[words, builds] = f"{' '.join(words)} fails without the fault"
            except Broken as error:
                self.broken[words, builds] = str(error)

    def try_out(self, fault: Fault) -> Outcome:
        """Error: Broken when the tests fail without the fault or the fault does not compile."""
        start = time.monotonic()
        for words in fault.tests:
            if (words, fault.builds) in self.broken:
                raise Broken(self.broken[words, fault.builds])
        path = self.copy.tree / fault.file
        text = path.read_text()
        path.write_text(fault.apply(text))
        try:
            self.copy.build(fault.builds)
            seen = next((words for words in fault.tests if self.copy.fails(words, fault.builds)), ())
        finally:
            path.write_text(text)
        return Outcome(fault.name, fault.file, " ".join(seen), round(time.monotonic() - start, 1))


def table_of(outcomes: list[Outcome], faults: list[Fault]) -> str:
    """The README's table."""
    by_name = {outcome.name: outcome for outcome in outcomes}
    killed = sum(outcome.killed for outcome in outcomes)
    rows = []
    for fault in sorted(faults, key=lambda fault: (fault.file, fault.name)):
        outcome = by_name.get(fault.name)
        seen = "not tried" if outcome is None else f"`{outcome.seen_by}`" if outcome.killed else "**nothing**"
        rows.append(f"| {fault.name} | `{fault.file}` | {seen} |")
    left = len(faults) - len(outcomes)
    told = f"{killed} of {len(outcomes)} faults were seen" + (f"; {left} were not tried." if left else ".")
    return "\n".join([told, "", "| fault | file | seen by |", "|---|---|---|", *rows])


def remember(outcomes: list[Outcome], faults: list[Fault]) -> list[Outcome]:
    """The known outcomes of the table's rows: the README's, replaced by newer ones of this checkout, then by
    these."""
    told = told_by(README.read_text())
    held = {
        fault.name: Outcome(fault.name, fault.file, seen, 0.0)
        for fault in faults
        if (seen := told.get(fault.name)) is not None
    }
    if RESULTS.is_file():
        held |= {row["name"]: Outcome(**row) for row in json.loads(RESULTS.read_text())}
    held.update({outcome.name: outcome for outcome in outcomes})
    kept = [held[fault.name] for fault in faults if fault.name in held]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([asdict(outcome) for outcome in kept], indent=1) + "\n")
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="names, comma separated")
    parser.add_argument("--folder", default="", help="faults in files below this folder only")
    parser.add_argument("--new", action="store_true", help="faults without a result only")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    parser.add_argument("--write", action="store_true", help=f"write the table of {README.name}")
    parser.add_argument("--tree", type=Path, default=TREE, help="the copy")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="parallel compile jobs")
    options = parser.parse_args()
    faults = read()
    names = {name for name in options.only.split(",") if name}
    if unknown := names - {fault.name for fault in faults}:
        parser.error(f"--only: no such fault: {', '.join(sorted(unknown))}")
    done = {outcome.name for outcome in remember([], faults)} if options.new else set()
    chosen = [
        fault
        for fault in faults
        if (not names or fault.name in names)
        and fault.file.startswith(options.folder)
        and fault.name not in done
    ]
    copy = Copy(options.tree.resolve(), options.jobs)
    copy.update()
    runner, outcomes, broken = Runner(copy), [], 0
    runner.prepare(chosen)
    for fault in chosen:
        try:
            outcome = runner.try_out(fault)
        except Broken as error:
            broken += 1
            print(f"BROKEN   {fault.name}: {error}", file=sys.stderr, flush=True)
            continue
        outcomes.append(outcome)
        kept = remember([outcome], faults)
        word = "killed" if outcome.killed else "SURVIVED"
        print(f"{word:8} {fault.name} ({outcome.seconds:.0f} s)", file=sys.stderr, flush=True)
    kept = remember(outcomes, faults)
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    killed = sum(outcome.killed for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} killed, {broken} could not be tried", file=sys.stderr)
    if options.write:
        written.write(README, "faults", table_of(kept, faults))
    return 1 if broken or killed < len(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
