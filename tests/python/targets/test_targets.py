# SPDX-License-Identifier: BSD-3-Clause
"""Targets by name and compiler, what they need and how they run; their boards."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from rushlight import process, targets
from rushlight.errors import BuildOnly, InvalidArgument, MissingToolchain, UnknownTarget
from rushlight.sources import source_root
from rushlight.targets.bare_metal import BareMetal
from rushlight.targets.compilers import ZIGLANG
from rushlight.targets.linux import Linux
from rushlight.targets.target import Requirement
from rushlight.targets.wasm import WASMTIME

TOOLCHAINS = source_root() / "toolchains"
BARE_METAL = [target for target in targets.all_targets() if isinstance(target, BareMetal)]
ZIG = [target for target in targets.every_choice() if target.compiler == "zig"]


def test_an_unknown_target_is_refused_with_the_nearest_name_and_all_known_ones() -> None:
    with pytest.raises(UnknownTarget, match=r"did you mean cortex-m4.*rv64gc") as refusal:
        targets.get("cortex-m44")
    assert refusal.value.available[0] == "host"


def test_names_are_unique_and_found() -> None:
    names = [target.name for target in targets.all_targets()]
    assert len(names) == len(set(names))
    assert [targets.get(name).name for name in names] == names


def test_a_compiler_before_the_name_chooses_among_those_of_the_target() -> None:
    by_zig = targets.get("zig-cortex-m33")
    assert (by_zig.name, by_zig.compiler, by_zig.cpu) == ("zig-cortex-m33", "zig", "cortex-m33")
    assert by_zig.toolchain["RUSHLIGHT_TARGET"] == "cortex-m33" and by_zig.board == "mps2-an505"
    assert targets.get("cortex-m33").compiler == targets.get("gcc-cortex-m33").compiler == "gcc"
    assert targets.get("zig-linux-x86_64").toolchain == targets.get("linux-x86_64").toolchain
    assert targets.spelled("cortex-m33", "zig") == "zig-cortex-m33"
    assert targets.spelled("cortex-m33", None) == "cortex-m33"


def test_a_compiler_that_does_not_build_for_a_target_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="compiler of cortex-m85: expected one of clang, got zig"):
        targets.get("zig-cortex-m85")
    with pytest.raises(InvalidArgument, match="compiler of the host"):
        targets.get("gcc-host")
    with pytest.raises(UnknownTarget, match="did you mean zig-cortex-m4"):
        targets.get("zag-cortex-m4")


def test_every_choice_is_a_target_by_each_of_its_compilers() -> None:
    choices = [(target.name, target.compiler) for target in targets.every_choice()]
    assert len(choices) == len(set(choices)) == 1 + sum(len(t.compilers) for t in targets.all_targets()[1:])
    assert {"zig-rv64gc", "rv64gc", "clang-linux-riscv64", "wasm32"} < {name for name, _ in choices}


@pytest.mark.parametrize("compiler", ["gcc", "clang", "zig"])
def test_linux_runs_in_the_emulator_unless_it_is_linked_statically_for_this_machine(
    compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    target = targets.get(f"{compiler}-linux-riscv64")
    words = [] if compiler == "zig" else ["qemu-riscv64", "-L", "/usr/riscv64-linux-gnu"]
    assert target.command(Path("/runner"), ["x"]) == [*words, "/runner", "x"]


@pytest.mark.parametrize("target", BARE_METAL, ids=lambda target: target.name)
def test_the_banks_of_a_board_exist_apart_from_each_other(target: BareMetal) -> None:
    board = target.description()
    spans = sorted((int(bank["address"], 16), bank["bytes"], bank["name"]) for bank in board["memory"])
    for (start, size, _), (following, _, name) in itertools.pairwise(spans):
        assert start + size <= following, f"{name} overlaps the bank before it"
    assert set(board["banks"]) == {"vectors", "flash", "ram", "model", "arena"}
    assert set(board["banks"].values()) <= {name for _, _, name in spans}
    assert (TOOLCHAINS / "boards" / "startup" / f"{board['architecture']}.cpp").is_file()


def test_a_target_for_building_only_says_so_and_refuses_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    target = targets.get("cortex-m85")
    assert target.build_only == "QEMU has no Cortex-M85"
    for start in (target.command, target.run):
        with pytest.raises(BuildOnly, match=r"cortex-m85.*building only: QEMU has no") as refusal:
            start(Path("runner"))
    assert "rushlight build --target cortex-m85" in refusal.value.next_step
    monkeypatch.setattr(process, "find_program", lambda name: None)
    missing = {requirement.name for requirement in target.requirements()}
    assert {"clang++-19", "ld.lld-19", "arm-none-eabi-g++"} < missing
    assert not any("qemu" in name for name in missing)


def test_every_other_target_can_be_run() -> None:
    assert [target.name for target in targets.all_targets() if target.build_only] == ["cortex-m85"]


def test_a_board_without_an_emulator_says_why() -> None:
    for target in BARE_METAL:
        assert bool(target.description()["emulator"]) != bool(target.build_only)


def test_a_core_has_other_boards() -> None:
    microbit = targets.get("microbit")
    assert (microbit.cpu, microbit.board) == ("cortex-m0", "microbit")
    assert microbit.bank_bytes() == {"flash": 262144, "ram": 16384}


LARGE = [target for target in BARE_METAL if target.name != "microbit"]


@pytest.mark.parametrize("target", LARGE, ids=lambda target: target.name)
def test_a_board_takes_a_megabyte_each_of_model_and_arenas(target: BareMetal) -> None:
    board = target.description()
    free = {bank["name"]: bank["bytes"] for bank in board["memory"]}
    for role in ("model", "arena"):
        free[board["banks"][role]] -= 1 << 20
    assert min(free.values()) >= 0


@pytest.mark.parametrize("target", targets.every_choice(), ids=lambda target: target.name)
def test_what_is_missing_is_named_with_its_package(
    target: targets.Target, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "search_path", lambda: str(tmp_path))
    missing = target.requirements()
    assert {"cmake", "ninja"} <= {requirement.name for requirement in missing}
    packages = {
        installer: {requirement.package for requirement in missing if requirement.installer == installer}
        for installer in ("apt", "pip")
    }
    *debian, last = targets.install_commands([target.name])
    if packages["pip"]:
        assert last[1:4] == ["-m", "pip", "install"] and set(last[4:]) == packages["pip"]
    else:
        debian.append(last)
    if packages["apt"]:
        update, install = debian
        assert update == ["apt-get", "update"]
        assert install[:4] == ["apt-get", "install", "-y", "--no-install-recommends"]
        assert set(install[4:]) == packages["apt"]
    else:
        assert not debian


@pytest.mark.parametrize("name", ["rv32imac", "zig-rv32imac", "wasm32"])
def test_what_only_running_takes_is_told_before_a_run_and_not_before_a_build(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = targets.get(name)
    emulator = [Requirement("qemu-system-riscv32", "qemu-system-misc", only_to_run=True)]
    monkeypatch.setattr(type(target), "requirements", lambda self: emulator)
    target.check_builds()
    with pytest.raises(MissingToolchain, match="missing qemu-system-riscv32") as refusal:
        target.check_runs()
    assert f"rushlight targets install {name}" in refusal.value.next_step


def test_nothing_is_installed_where_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Linux, "requirements", lambda self: [])
    assert targets.install_commands(["linux-aarch64"]) == []


def test_a_board_gets_its_arguments_in_the_emulators_and_the_startups_notation(tmp_path: Path) -> None:
    emulator = tmp_path / "emulator"
    emulator.write_text('#!/bin/sh\nfor word; do printf "<%s>\\n" "$word"; done\n')
    emulator.chmod(0o755)
    command = targets.get("cortex-m4").command(
        tmp_path / "a b" / "runner", ["--in=x,y", "two words", "back\\slash"]
    )
    command[command.index("qemu-system-arm")] = str(emulator)
    words = process.run(command, check=True, timeout=20).stdout.splitlines()
    config = "enable=on,target=native,chardev=host,arg=runner,arg=--in=x,,y,arg=two\\ words,arg=back\\\\slash"
    assert words[words.index("<-semihosting-config>") + 1] == f"<{config}>"
    assert words[-2:] == ["<-kernel>", f"<{tmp_path}/a b/runner>"]
    assert words[: words.index("<-display>")] == ["<-machine>", "<mps2-an386>", "<-icount>", "<shift=7>"]


@pytest.mark.parametrize("argument", ["", "two\nlines"])
def test_a_board_refuses_arguments_that_it_would_not_get_whole(argument: str) -> None:
    with pytest.raises(InvalidArgument, match="argument of a board: expected one line of text"):
        targets.get("rv64gc").command(Path("runner"), [argument])


def test_the_host_runs_an_executable_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\npwd; echo "$1"; exit 3\n')
    script.chmod(0o755)
    result = targets.get("host").run(script, ["one argument"], cwd=tmp_path, timeout=20)
    assert (result.returncode, result.stdout) == (3, f"{tmp_path}\none argument\n")


@pytest.mark.parametrize("target", ZIG, ids=lambda target: target.name)
def test_what_pip_can_install_is_all_that_building_with_ziglang_takes(
    target: targets.Target, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "search_path", lambda: str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    to_build = [item for item in target.requirements() if not item.only_to_run]
    assert {item.package for item in to_build} == {ZIGLANG, "cmake", "ninja"}
    with pytest.raises(MissingToolchain, match=r"missing zig, cmake, ninja") as refusal:
        target.check_builds()
    assert "pip install cmake ninja 'ziglang" in refusal.value.next_step
    assert "apt-get" not in refusal.value.next_step


def test_the_extra_zig_brings_what_the_targets_ask_for() -> None:
    assert f'zig = ["{ZIGLANG}", "{WASMTIME}"]' in (Path(__file__).parents[3] / "pyproject.toml").read_text()
