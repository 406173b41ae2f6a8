# SPDX-License-Identifier: BSD-3-Clause
"""Builds with odd names, times in the future, full disks, and concurrent builds in the same folder. No
compiler runs."""

from __future__ import annotations

import errno
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rushlight import process, targets
from rushlight.build import RUNNER, BakedModel, BuildRequest, cmake, pipeline, run_request
from rushlight.build.inputs import linked_inputs
from rushlight.build.sizes import Sizes
from rushlight.cli.main import main
from rushlight.documents import read_json
from rushlight.errors import BuildFailed, FileFailed, InvalidArgument
from rushlight.sources import source_root
from rushlight.targets.target import CommandTarget

INTEROP = Path(__file__).parents[2] / "interop"
MODEL = INTEROP / "f64_add" / "model.pte"
INTERPRETED = BuildRequest("host", models=(MODEL,))
BAKED = BuildRequest("host", baked=(BakedModel(MODEL, name="f64_add"),))
ODD = [
    'a"b.pte',
    "a[b.pte",
    "a]b.pte",
    "a\nb.pte",
    "a\\b.pte",
    "a;b.pte",
    "a,b.pte",
    "a$b.pte",
    "a|b.pte",
    "a\udcffb",
]


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_an_odd_name_is_reached_through_a_plain_one(name: str, tmp_path: Path) -> None:
    path, plain = tmp_path / name, tmp_path / "plain.pte"
    path.write_bytes(b"model")
    for _ in range(2):
        link, same = linked_inputs([path, plain], tmp_path / "out")
        assert same == plain and link.read_bytes() == b"model"
        assert not set(link.name) & set('"[]\n\\;,$|') and link.suffix == path.suffix
    others = linked_inputs([tmp_path / other for other in ODD], tmp_path / "out")
    assert len(set(others)) == len(ODD)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In place of CMake: what was done, in order. A build takes a moment and makes a file."""
    done: list[str] = []

    def configure(_source: Path, binary: Path, cache: dict[str, str], _toolchain: Path | None) -> None:
        done.append("configure")
        done.append(cache["EXECUTORCH_SELECT_OPS_MODEL"])
        (binary / "generated").mkdir(parents=True, exist_ok=True)
        (binary / "generated" / "selected_kernels.json").write_text('{"operators": {}, "delegates": {}}')

    def build(binary: Path, wanted: list[str], *_: object) -> None:
        time.sleep(0.2)
        for name in wanted:
            (binary / name).write_bytes(b"runner")
        done.append("built")

    monkeypatch.setattr(cmake, "configure", configure)
    monkeypatch.setattr(cmake, "build", build)
    monkeypatch.setattr(pipeline, "read_sizes", lambda _path: Sizes({}, 0, 0, 0))
    return done


def test_builds_in_one_folder_take_turns(fake: list[str], tmp_path: Path, capsys) -> None:
    request = BuildRequest("host", models=(MODEL,))
    results: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(run_request(request, tmp_path / "out").executable.is_file())
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 3
    assert fake == ["configure", str(MODEL), "built"] * 3
    assert capsys.readouterr().err.count("waiting for another thread, which is using") == 2


def test_cmake_gets_no_odd_name(fake: list[str], tmp_path: Path) -> None:
    model = tmp_path / 'we[ird"na\\me;x.pte'
    model.write_bytes(MODEL.read_bytes())
    run_request(BuildRequest("host", models=(model,)), tmp_path / "out")
    assert Path(fake[1]).resolve() == model and not set(fake[1]) & set('["\\;')


def test_a_folder_that_cannot_be_built_in_is_refused(fake: list[str], tmp_path: Path) -> None:
    for name in ('a"b', "a;b", "a[b", "a\nb", "a$b"):
        expected = r"(?s)build folder .*expected a path that CMake and linkers take"
        with pytest.raises(InvalidArgument, match=expected):
            run_request(BuildRequest("host", models=(MODEL,)), tmp_path / name)
    assert fake == []


@pytest.mark.parametrize("request_", [INTERPRETED, BAKED], ids=["interpreted", "baked"])
def test_a_failed_build_leaves_no_executable(
    request_: BuildRequest, fake: list[str], tmp_path: Path, monkeypatch
) -> None:
    executable = run_request(request_, tmp_path).executable

    def fail(*_: object) -> None:
        assert executable.is_file()  # others may be running it
        raise BuildFailed(["cmake"], "")

    monkeypatch.setattr(cmake, "build", fail)
    with pytest.raises(BuildFailed):
        run_request(request_, tmp_path)
    assert not executable.exists()


@pytest.mark.parametrize(("target", "suffix"), [("host", ""), ("cortex-m55", ".elf"), ("wasm32", ".wasm")])
@pytest.mark.parametrize("request_", [INTERPRETED, BAKED], ids=["interpreted", "baked"])
def test_an_executable_is_named_as_its_kind_on_the_target(
    request_: BuildRequest, target: str, suffix: str, fake: list[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(CommandTarget, "check_builds", lambda _target: None)
    result = run_request(replace(request_, target=target), tmp_path)
    assert result.executable == tmp_path / (request_.runner + suffix) and result.executable.is_file()
    assert read_json(tmp_path / "build.json")["executable"] == str(result.executable)


def test_assembler_files_hold_the_weights_where_the_assembler_is_for_elf(
    fake: list[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(CommandTarget, "check_builds", lambda _target: None)
    baked = replace(BAKED, baked=(BakedModel(INTEROP / "dynamic_mlp" / "model.pte"),))
    written = {}
    for target in ("cortex-m55", "wasm32"):
        run_request(replace(baked, target=target), tmp_path / target)
        written[target] = {path.suffix for path in (tmp_path / target).rglob("*_weights.*")}
    assert ".S" in written["cortex-m55"] and ".S" not in written["wasm32"] and ".cpp" in written["wasm32"]


def test_baked_programs_of_one_name_are_refused(fake: list[str], tmp_path: Path) -> None:
    twice = replace(BAKED, baked=BAKED.baked * 2)
    with pytest.raises(InvalidArgument, match="baked program 'f64_add': expected a unique name"):
        run_request(twice, tmp_path)
    assert fake == []


def test_baked_builds_ask_for_what_the_request_says(fake: list[str], tmp_path: Path) -> None:
    wanted = replace(BAKED, minimal=True, interpreter=True)
    made = pipeline.make(wanted, tmp_path)
    [program] = made.programs
    for name in ("baked_runner", f"{program.name}_minimal", RUNNER):
        assert (made.binary / name).is_file()
    entries = wanted.cache_entries(targets.get("host"), baked=[program.folder])
    assert entries["RUSHLIGHT_BAKED"] == str(program.folder)
    assert entries["RUSHLIGHT_BUILD"] == "runner;no-python"


@pytest.mark.parametrize("command", ["build", "bake", "run"])
def test_an_output_that_cannot_be_written_is_an_error_with_a_next_step(command, tmp_path, capsys) -> None:
    (tmp_path / "file").write_bytes(b"")
    option = "--save" if command == "run" else "-o"
    with pytest.raises(SystemExit) as caught:
        main([command, str(MODEL), option, str(tmp_path / "file" / "out")])
    said = capsys.readouterr().err
    assert caught.value.code == FileFailed.exit_code
    assert said.startswith("error: ") and "Not a directory" in said and "Check the path" in said


def test_any_failure_of_the_system_is_an_error_with_a_next_step(tmp_path, capsys, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path / "x"))

    monkeypatch.setattr("rushlight.cli.bake.bake", refuse)
    with pytest.raises(SystemExit) as caught:
        main(["bake", str(MODEL), "-o", str(tmp_path), "--json"])
    printed = capsys.readouterr()
    assert caught.value.code == 36 and "x: Read-only file system" in printed.err and "disk" in printed.err
    assert '"FileFailed"' in printed.out


def result(returncode: int, text: str) -> process.Result:
    return process.Result(returncode, text, "", ("cmake",), 0.0)


@pytest.mark.parametrize(("status", "log"), [(1, "write: No space left on device"), (0, "")])
def test_a_full_disk_is_said_when_configuring_fails(status, log, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(process, "run", lambda *_, **__: result(status, log))
    if not log:  # CMake says nothing; there is no build file
        usage = type("usage", (), {"free": 4096})
        monkeypatch.setattr(cmake.shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(FileFailed, match="No space left on device") as caught:
        cmake.configure(source_root(), tmp_path / "b", {}, {})
    assert caught.value.errno == errno.ENOSPC


def test_a_full_disk_is_said_when_building_fails(tmp_path, monkeypatch) -> None:
    log = "ninja: error: loading 'build.ninja': No such file or directory"
    monkeypatch.setattr(process, "run", lambda *_, **__: result(1, log))
    with pytest.raises(BuildFailed, match="loading"):
        cmake.build(tmp_path, ["all"])
    monkeypatch.setattr(cmake.shutil, "disk_usage", lambda _path: type("usage", (), {"free": 0}))
    with pytest.raises(FileFailed, match="No space left"):
        cmake.build(tmp_path, ["all"])


def test_a_time_in_the_future_does_not_configure_for_ever(tmp_path: Path) -> None:
    project, binary, model = tmp_path / "p", tmp_path / "b", tmp_path / "model.pte"
    project.mkdir()
    model.write_bytes(b"")
    os.utime(model, (time.time() + 1e6,) * 2)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(p NONE)\n"
        f'include("{source_root()}/cmake/selection.cmake")\n'
        f'set(EXECUTORCH_SELECT_OPS_MODEL "{model};${{CMAKE_CURRENT_LIST_FILE}}")\n'
        "rushlight_generator_words(words selection)\n"
        "add_custom_target(all_there ALL)\n"
    )
    configured = process.run(["cmake", "-G", "Ninja", "-S", project, "-B", binary], check=True)
    assert f"{model} has a time in the future" in configured.stdout
    assert "CMakeLists.txt has a time" not in configured.stdout
    assert process.run(["cmake", "--build", binary], timeout=60).returncode == 0
