# SPDX-License-Identifier: BSD-3-Clause
"""The seconds that each file of the suite takes; the suite's parts and order follow from them.

pytest's --shard i/n runs the i-th of n parts, for n machines that run all of it once. A part has whole
files, as the tests of a file share what they build. The longest file goes first, each to the part with the
least so far; that takes at most a third more than the best split. pytest-xdist's processes take files in the
same order, so that none is left with a long one when the others have ended.

durations.json has the seconds, as --record-durations found them; a file without an entry counts as the
median. Parts and order depend on the tree alone, not on the machine or on pytest's other words. A run of the
whole suite ends with the files whose entries are off, so that its log has what to correct.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DURATIONS = Path(__file__).with_name("durations.json")
_UNKNOWN = 1.0  # seconds, if no file has an entry
_MUCH = 30.0  # seconds between an entry and the actual time
_WHOLE = 0.9  # of the files make a run complete: other runs select some tests of a file


def suite_files() -> list[str]:
    """The files of the suite, by their paths from the root of the checkout."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


def recorded() -> dict[str, float]:
    """The seconds of each file that has an entry."""
    found: dict[str, float] = json.loads(DURATIONS.read_text()) if DURATIONS.is_file() else {}
    return found


def expected(files: Iterable[str], known: Mapping[str, float]) -> dict[str, float]:
    """The seconds of each file, recorded or estimated."""
    estimate = statistics.median(known.values()) if known else _UNKNOWN
    return {file: known.get(file, estimate) for file in files}


def longest_first(seconds: Mapping[str, float]) -> list[str]:
    """The files, longest first."""
    return sorted(seconds, key=lambda file: (-seconds[file], file))


def split(seconds: Mapping[str, float], count: int) -> list[list[str]]:
    """The files of each of `count` parts."""
    parts: list[list[str]] = [[] for _ in range(count)]
    totals = [0.0] * count
    for file in longest_first(seconds):
        least = totals.index(min(totals))
        parts[least].append(file)
        totals[least] += seconds[file]
    return parts


def parse(text: str) -> tuple[int, int]:
    """(2, 4) for "2/4". Error: UsageError."""
    first, slash, second = text.partition("/")
    if slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise pytest.UsageError(f"--shard: expected i/n with 1 <= i <= n, as 2/4, got '{text}'")


class Shard:
    """Leaves out the files of the other parts before they are imported."""

    def __init__(self, text: str) -> None:
        number, count = parse(text)
        seconds = expected(suite_files(), recorded())
        own = split(seconds, count)[number - 1]
        self.others = {ROOT / file for file in seconds} - {ROOT / file for file in own}
        total = sum(seconds[file] for file in own)
        self.header = f"shard {text}: {len(own)} of {len(seconds)} files, some {total:,.0f} s in one process"

    def pytest_report_header(self) -> str:
        return self.header

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if collection_path in self.others else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        # Files named on pytest's command line are collected in any case.
        left_out = [item for item in items if item.path in self.others]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item.path not in self.others]


class Order:
    """Makes a process of pytest-xdist list its files longest first, the order in which they are assigned."""

    def __init__(self) -> None:
        files = longest_first(expected(suite_files(), recorded()))
        self.order = {ROOT / file: position for position, file in enumerate(files)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.order.get(item.path, len(self.order)))


class Recorder:
    """Adds up the seconds of each file. With `writes` they replace the file's entry."""

    def __init__(self, writes: bool) -> None:
        self.writes = writes
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration

    def off(self) -> list[str]:
        """A line for each file that took half a minute more than its entry and twice it, or as much less."""
        if len(self.seconds) < _WHOLE * len(suite_files()):
            return []
        wrong = []
        for file, known in expected(self.seconds, recorded()).items():
            spent = self.seconds[file]
            if abs(spent - known) > _MUCH and not 0.5 < spent / known < 2:
                wrong.append((spent - known, f"{file}: {spent:.1f} s, expected {known:.1f}"))
        return [line for _, line in sorted(wrong, reverse=True)]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if lines := self.off():
            terminalreporter.section(f"{DURATIONS.name} is off")
            terminalreporter.write_line("\n".join(lines))

    def pytest_sessionfinish(self) -> None:
        if not self.writes:
            return
        files = set(suite_files())
        known = recorded() | {file: round(spent, 1) for file, spent in self.seconds.items()}
        rows = {file: known[file] for file in sorted(known) if file in files}
        DURATIONS.write_text(json.dumps(rows, indent=1) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("shards")
    group.addoption("--shard", metavar="I/N", help="run the I-th of N parts of the suite")
    group.addoption(
        "--record-durations", action="store_true", help=f"write the seconds of each file to {DURATIONS.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("shard"):
        config.pluginmanager.register(Shard(config.getoption("shard")))
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Order())
        return
    # Otherwise pytest-xdist assigns the files with most tests first, regardless of their seconds.
    config.option.loadscopereorder = False
    # The controller process gets all reports.
    config.pluginmanager.register(Recorder(config.getoption("record_durations")))
