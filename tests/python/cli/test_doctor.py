# SPDX-License-Identifier: BSD-3-Clause
"""rushlight doctor: statuses, the commands that mend, exit codes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from rushlight import process, runtime, targets
from rushlight.cli import checkup
from rushlight.cli.checkup import MISSING, OK, WRONG, Finding, check_machine
from rushlight.cli.extras import Requirement, extras, requirements
from rushlight.cli.main import main
from rushlight.errors import CommandFailed, InvalidArgument, NotReady, RushlightError
from rushlight.targets.bare_metal import BareMetal
from rushlight.targets.host import Host


def status(*words: str) -> int:
    """The exit status of the command."""
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def finding(name: str, *wanted: str) -> Finding:
    """The one finding of that name."""
    (found,) = [each for each in check_machine(wanted) if each.name == name]
    return found


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with all that targets and extras need, whatever this one has."""
    monkeypatch.setattr(BareMetal, "requirements", lambda _self: [])
    monkeypatch.setattr(Host, "requirements", lambda _self: [])
    monkeypatch.setattr(checkup, "_tools", lambda: [Finding("build tools", "CMake", OK, "4.0")])
    monkeypatch.setattr(Requirement, "installed", lambda self: "2.14" if self.name == "torch" else "5000")
    monkeypatch.setattr(Requirement, "allows", lambda _self, _version: True)


@pytest.fixture
def lacks_compilers(monkeypatch: pytest.MonkeyPatch, sound: None) -> None:
    lacking = [targets.Requirement("arm-none-eabi-g++", "gcc-arm-none-eabi")]
    monkeypatch.setattr(BareMetal, "requirements", lambda _self: lacking)


@pytest.mark.heavy
def test_a_sound_machine_is_ready(sound: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("cortex-m55", "export", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ready"]
    names = [each["name"] for each in told["findings"]]
    assert {"Python", "package", "compiled runtime", "build cache", "CMake", "cortex-m55", "export"} <= set(
        names
    )
    assert "cortex-m4" not in names and "llm" not in names


@pytest.mark.heavy
def test_missing_things_fail_by_name_or_with_strict_only(
    lacks_compilers: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status() == 0
    shown = capsys.readouterr().out
    assert "missing cortex-m55" in shown and "apt-get install -y" in shown
    assert status("cortex-m55") == NotReady.exit_code
    assert "not ready: cortex-m55 (missing)" in capsys.readouterr().err
    assert status("host") == 0
    assert status("--strict") == NotReady.exit_code


def test_json_of_a_machine_that_is_not_ready_is_one_document(
    lacks_compilers: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status("cortex-m55", "--json") == NotReady.exit_code
    told = json.loads(capsys.readouterr().out)
    (row,) = [each for each in told["findings"] if each["name"] == "cortex-m55"]
    assert not told["ready"] and row["status"] == MISSING and row["section"] == "targets"


@pytest.mark.parametrize(("user", "start"), [(0, "apt-get update && "), (1000, "sudo apt-get update && ")])
def test_commands_for_debian_are_for_root(
    user: int, start: str, lacks_compilers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = finding("cortex-m0plus", "cortex-m0plus").mend[0]
    assert command.startswith(start) and command.endswith("gcc-arm-none-eabi")
    assert command.count("sudo") == (0 if user == 0 else 2)


def test_a_target_is_ready_by_any_of_its_compilers(sound: None, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = [targets.Requirement("g++", "g++")]
    monkeypatch.setattr(BareMetal, "requirements", lambda self: [] if self.compiler == "zig" else lacking)
    assert (finding("cortex-m4").status, finding("cortex-m4").detail) == (OK, "zig")
    assert finding("zig-cortex-m4", "zig-cortex-m4").status == OK
    assert finding("rv64gcv").status == MISSING  # clang alone builds for it


def test_a_target_that_lacks_its_emulator_still_builds(sound: None, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = [targets.Requirement("qemu-system-arm", "qemu-system-arm", only_to_run=True)]
    monkeypatch.setattr(BareMetal, "requirements", lambda _self: lacking)
    assert finding("cortex-m55").detail == "builds, but cannot run: missing qemu-system-arm"


def test_a_name_that_is_no_target_and_no_extra_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("mars") == InvalidArgument.exit_code
    told = capsys.readouterr().err
    assert "expected the name of a target or an extra, got 'mars'" in told and "export" in told


def test_an_old_package_is_wrong_and_a_missing_one_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"torch": "2.5.1"}
    monkeypatch.setattr(Requirement, "installed", lambda self: versions.get(self.name))
    monkeypatch.setattr(process, "find_program", lambda _name: None)
    found = checkup._extra("export")
    assert found.status == WRONG and "got 2.5.1" in found.detail and "torch" in found.detail
    assert found.mend == ("pip install 'rushlight[export]'",)
    versions["torch"] = "2.13.0+cpu"
    found = checkup._extra("export")
    assert found.status == MISSING and "needs torchao>=0.18" in found.detail and "torch<" not in found.detail


def test_something_broken_fails_always(
    sound: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> dict[str, Any]:
        raise RushlightError("the native runtime cannot be imported: undefined symbol: x\x1b[2J")

    monkeypatch.setattr(checkup, "runtime_info", broken)
    assert status("export") == NotReady.exit_code
    shown = capsys.readouterr()
    assert "compiled runtime (wrong)" in shown.err and "\\x1b[2J" in shown.out and "\x1b[2J" not in shown.out


@pytest.mark.heavy
def test_the_runtime_names_its_variant() -> None:
    build = runtime.runtime_info()["build"]
    assert build["variants"][0] == "native" and build["variant"] in build["variants"]


@pytest.mark.heavy
def test_the_variant_is_the_one_that_is_asked_for() -> None:
    ask = "from rushlight.runtime import runtime_info as i; print(i()['build']['variant'])"
    environment = os.environ | {"RUSHLIGHT_CPU": "native"}
    told = subprocess.run(
        [sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout == "native\n"


def fails(_command: object, **_options: object) -> process.Result:
    return process.Result(1, "", "Illegal instruction", ("cmake",), 0.1)


def tells(version: str) -> Callable[..., process.Result]:
    return lambda *_words, **_options: process.Result(0, f"cmake version {version}\n", "", ("cmake",), 0.1)


@pytest.mark.parametrize(
    ("run", "expected"),
    [(fails, WRONG), (tells("3.20.1"), WRONG), (tells("3.24"), OK), (tells("4.1.0-rc1"), OK)],
)
def test_a_program_is_started_for_its_version(
    run: Callable[..., process.Result], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "run", run)
    (found,) = [each for each in checkup._tools() if each.name == "CMake"]
    assert found.status == expected


def test_folders_without_space_or_permission_are_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert checkup._folder("build cache", tmp_path / "not" / "yet").status == OK
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage(10**9, 10**9, 10**6))
    full = checkup._folder("build cache", tmp_path)
    assert full.status == WRONG and "got 1 MB" in full.detail
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    closed = checkup._folder("build cache", tmp_path)
    assert closed.status == WRONG and "chown" in closed.mend[0]
    file = tmp_path / "file"
    file.touch()
    monkeypatch.undo()
    assert checkup._folder("build cache", file).status == WRONG


def test_it_takes_less_than_three_seconds_and_opens_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_arguments: object) -> None:
        raise CommandFailed(["connect"], 1, "network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    before = time.process_time()
    status()
    assert time.process_time() - before < 3


def test_it_works_with_click_alone() -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(["rich", "rich.console", "yaml", "elftools", "pybind11", "torch"]))
from rushlight.cli.main import main
main(["doctor", "--json"])
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert json.loads(told.stdout)["findings"], told.stderr


def test_requirements_of_an_extra_include_those_of_the_extras_in_it() -> None:
    names = {each.name: each for each in requirements("export")}
    assert names["torch"].extra == "export" and names["rich"].extra == "build"
    assert not any(each.name == "rushlight" for each in requirements("test"))
    assert [each.name for each in requirements()] == ["numpy", "ml_dtypes"]
    assert {"build", "export", "llm", "serve", "zig", "cluster"} <= set(extras())


@pytest.mark.parametrize("version", ["2.12.9", "2.13", "2.13.0+cpu", "2.15.9", "2.16", "2.16.1", "3"])
@pytest.mark.parametrize(
    "versions", ["<2.16,>=2.13", "", ">=2.13", "!=2.16", "==2.13.0", "<=2.13", ">2.13.0"]
)
def test_versions_compare_as_packaging_has_it(version: str, versions: str) -> None:
    specifiers = pytest.importorskip("packaging.specifiers", reason="packaging is missing")
    expected = version in specifiers.SpecifierSet(versions)
    assert Requirement("torch", versions).allows(version) is expected


def test_without_metadata_extras_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    for function in ("version", "metadata", "requires"):
        monkeypatch.setattr(metadata, function, missing)
    found = check_machine()
    (package,) = [each for each in found if each.name == "package"]
    assert package.status == WRONG and package.mend == ("pip install .",)
    assert not [each for each in found if each.section == "extras"]
