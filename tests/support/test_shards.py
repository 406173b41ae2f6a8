# SPDX-License-Identifier: BSD-3-Clause
"""--shard: parts of the suite that together are all of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rushlight import process
from support import shards

FILES = shards.suite_files()
SECONDS = shards.expected(FILES, shards.recorded())


@pytest.mark.parametrize("count", [1, 2, 3, 7, len(FILES) + 1])
def test_parts_are_disjoint_and_together_everything(count: int) -> None:
    parts = shards.split(SECONDS, count)
    assert len(parts) == count
    assert sorted(file for part in parts for file in part) == FILES


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_no_part_takes_much_longer_than_another(count: int) -> None:
    totals = [sum(SECONDS[file] for file in part) for part in shards.split(SECONDS, count)]
    # Dealing the longest first: the parts differ by one file at most.
    assert max(totals) - min(totals) <= max(SECONDS.values())


def test_the_split_does_not_depend_on_the_order_of_the_files() -> None:
    backwards = dict(reversed(SECONDS.items()))
    assert shards.split(backwards, 4) == shards.split(SECONDS, 4)


def test_a_file_that_was_never_timed_counts_as_the_median() -> None:
    known = {"a": 1.0, "b": 2.0, "c": 40.0}
    assert shards.expected(["a", "new"], known) == {"a": 1.0, "new": 2.0}
    assert shards.expected(["new"], {}) == {"new": 1.0}


def test_recorded_files_exist() -> None:
    assert set(shards.recorded()) - set(FILES) == set()


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "/2", "1/", "a/b", "1/2/3", "-1/2", "1/0"])
def test_a_part_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(pytest.UsageError, match=r"--shard: expected i/n with 1 <= i <= n, as 2/4, got '"):
        shards.parse(text)


def suite(folder: Path) -> None:
    """Four files of one test each, with the plugin, that take 3, 2, 1 and an unknown number of seconds."""
    (folder / "tests" / "support").mkdir(parents=True)
    (folder / "conftest.py").write_text('pytest_plugins = ["support.shards"]\n')
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = tests\n")
    (folder / "tests" / "support" / "shards.py").write_text(Path(shards.__file__).read_text())
    seconds = {"tests/test_a.py": 3.0, "tests/test_b.py": 2.0, "tests/test_c.py": 1.0}
    (folder / "tests" / "support" / "durations.json").write_text(json.dumps(seconds))
    for name in "abcd":
        (folder / "tests" / f"test_{name}.py").write_text(f"def test_{name}():\n    pass\n")


def passed(folder: Path, *words: str) -> list[str]:
    """The tests that pytest runs in the folder."""
    environment = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *words]
    shown = process.run(command, cwd=folder, env=environment).stdout
    return [line.removeprefix("PASSED ") for line in shown.splitlines() if line.startswith("PASSED ")]


def test_pytest_runs_one_part(tmp_path: Path) -> None:
    suite(tmp_path)
    first, second = (passed(tmp_path, "--shard", f"{number}/2") for number in (1, 2))
    assert first == ["tests/test_a.py::test_a", "tests/test_c.py::test_c"]
    assert second == ["tests/test_b.py::test_b", "tests/test_d.py::test_d"]


def test_files_that_pytests_words_name_are_split_as_the_suite_is(tmp_path: Path) -> None:
    suite(tmp_path)
    assert passed(tmp_path, "--shard", "2/2", "tests/test_a.py", "tests/test_b.py") == [
        "tests/test_b.py::test_b"
    ]


def test_several_processes_take_the_longest_file_first(tmp_path: Path) -> None:
    suite(tmp_path)
    # Many quick tests do not make a file a long one.
    (tmp_path / "tests" / "test_c.py").write_text("".join(f"def test_{i}():\n    pass\n" for i in range(9)))
    seen = tmp_path / "seen"
    (tmp_path / "tests" / "conftest.py").write_text(
        "def pytest_runtest_logreport(report):\n"
        f"    open({str(seen)!r}, 'a').write(report.fspath + '\\n') if report.when == 'call' else None\n"
    )
    passed(tmp_path, "-p", "xdist", "-n", "1", "--dist", "loadfile", "-p", "no:randomly")
    order = list(dict.fromkeys(seen.read_text().split()))
    assert order == [f"tests/test_{name}.py" for name in "abdc"]


def test_a_file_that_takes_much_longer_than_recorded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"long": 10.0, "short": 90.0, "right": 50.0, "quick": 1.0}
    monkeypatch.setattr(shards, "recorded", lambda: known)
    monkeypatch.setattr(shards, "suite_files", lambda: list(known))
    recorder = shards.Recorder(writes=False)
    recorder.seconds.update({"long": 70.0, "short": 20.0, "right": 80.0})
    assert recorder.off() == []  # a run of some files
    recorder.seconds["quick"] = 9.0
    assert recorder.off() == ["long: 70.0 s, expected 10.0", "short: 20.0 s, expected 90.0"]


def test_durations_are_recorded(tmp_path: Path) -> None:
    suite(tmp_path)
    passed(tmp_path, "--record-durations", "tests/test_a.py", "tests/test_d.py")
    seconds = json.loads((tmp_path / "tests" / "support" / "durations.json").read_text())
    assert list(seconds) == [f"tests/test_{name}.py" for name in "abcd"]
    assert seconds["tests/test_a.py"] < 3 and seconds["tests/test_b.py"] == 2
