# SPDX-License-Identifier: BSD-3-Clause
"""Compiler caches under builds, on a project of one source file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.build import cmake
from rushlight.build.compiler_cache import CacheUse
from rushlight.errors import BuildFailed
from rushlight.sources import source_root

PROJECT = """\
cmake_minimum_required(VERSION 3.24)
project(one LANGUAGES C CXX)
include("{root}/cmake/compiler_cache.cmake")
add_library(one STATIC "${{CMAKE_CURRENT_SOURCE_DIR}}/one.cpp")
target_include_directories(one PRIVATE "${{CMAKE_CURRENT_SOURCE_DIR}}")
file(RELATIVE_PATH folder "${{CMAKE_BINARY_DIR}}" "${{CMAKE_CURRENT_SOURCE_DIR}}")
target_compile_options(
    one
    PRIVATE "-fmacro-prefix-map=${{CMAKE_CURRENT_SOURCE_DIR}}/=" "-fmacro-prefix-map=${{folder}}/="
)
"""


def needs(program: str) -> str:
    if process.find_program(program) is None:
        pytest.skip(f"missing {program}")
    return program


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "objects"))
    monkeypatch.setenv("CCACHE_CONFIGPATH", str(tmp_path / "ccache.conf"))
    for name in ("BASEDIR", "DISABLE", "IGNOREOPTIONS", "NOHASHDIR", "READONLY", "RECACHE", "REMOTE_STORAGE"):
        monkeypatch.delenv(f"CCACHE_{name}", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT.format(root=source_root()))
    (folder / "one.h").write_text("int one();\n")
    (folder / "one.cpp").write_text('#include "one.h"\nint one() { return 1; }\n')
    return folder


def built(project: Path, binary: Path, **entries: str) -> CacheUse | None:
    cmake.configure(project, binary, {"RUSHLIGHT_COMPILER_CACHE": "ccache", **entries}, {})
    return cmake.build(binary, ["one"], jobs=1)


def test_folders_at_any_depth_share_objects(project: Path, tmp_path: Path) -> None:
    needs("ccache")
    first = built(project, tmp_path / "a", CMAKE_BUILD_TYPE="Release")
    second = built(project, tmp_path / "deep" / "in" / "b", CMAKE_BUILD_TYPE="Release")
    assert (first, second) == (CacheUse("ccache", 0, 0, 1), CacheUse("ccache", 1, 0, 0))


def test_copies_of_the_sources_share_objects(project: Path, tmp_path: Path) -> None:
    needs("ccache")
    built(project, tmp_path / "a", CMAKE_BUILD_TYPE="Release")
    moved = project.rename(tmp_path / "another-place")
    use = built(moved, tmp_path / "b", CMAKE_BUILD_TYPE="Release")
    assert use is not None and use.hits == 1


def objects(binary: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(binary.rglob("*.o"))]


def test_clones_at_two_paths_share_objects(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `cmake --preset` builds them, with the build folder below the tree."""
    needs("ccache")
    monkeypatch.setenv("CCACHE_BASEDIR", str(tmp_path))
    monkeypatch.setenv("CCACHE_NOHASHDIR", "1")
    (project / "one.cpp").write_text('#include "one.h"\nconst char* file() { return __FILE__; }\n')
    counts = []
    trees = [shutil.copytree(project, tmp_path / name) for name in ("first", "a-second-one")]
    log = tmp_path / "statistics"
    monkeypatch.setenv("CCACHE_STATSLOG", str(log))
    for tree in trees:
        cmake.configure(tree, tree / "build", {"RUSHLIGHT_COMPILER_CACHE": "ccache"}, {})
        log.unlink(missing_ok=True)
        process.run(["cmake", "--build", str(tree / "build")])
        counts.append(log.read_text().count("_cache_hit"))
    assert counts == [0, 1]
    first, second = (objects(tree / "build" / "CMakeFiles" / "one.dir") for tree in trees)
    assert first == second and b"one.cpp" in first[0] and str(tmp_path).encode() not in first[0]


def test_objects_with_debug_information_stay_with_their_folder(project: Path, tmp_path: Path) -> None:
    needs("ccache")
    built(project, tmp_path / "a", CMAKE_BUILD_TYPE="Debug")
    use = built(project, tmp_path / "b", CMAKE_BUILD_TYPE="Debug")
    assert use is not None and use.misses == 1


def test_a_build_that_has_nothing_to_do_uses_nothing(project: Path, tmp_path: Path) -> None:
    needs("ccache")
    built(project, tmp_path / "a")
    assert built(project, tmp_path / "a") == CacheUse("ccache", 0, 0, 0)


def test_sccache_is_used_where_it_is_chosen(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = needs("sccache")
    monkeypatch.setenv("SCCACHE_DIR", str(tmp_path / "objects"))
    monkeypatch.setenv("SCCACHE_SERVER_UDS", str(tmp_path / "socket"))
    try:
        assert built(project, tmp_path / "a", RUSHLIGHT_COMPILER_CACHE="sccache") == CacheUse(
            "sccache", 0, None, 1
        )
    finally:
        process.run([program, "--stop-server"])


def test_without_a_cache_nothing_is_counted(project: Path, tmp_path: Path) -> None:
    assert built(project, tmp_path / "a", RUSHLIGHT_COMPILER_CACHE="off") is None


def test_a_launcher_of_the_caller_stays(project: Path, tmp_path: Path) -> None:
    assert built(project, tmp_path / "a", CMAKE_CXX_COMPILER_LAUNCHER="env") is None


@pytest.mark.parametrize(
    ("choice", "message"), [("icecream", "expected auto, ccache, sccache or off"), ("sccache", "not found")]
)
def test_a_choice_that_cannot_be_is_an_error(
    choice: str, message: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {"RUSHLIGHT_COMPILER_CACHE": choice, "CMAKE_PROGRAM_PATH": ""}
    if choice == "sccache" and process.find_program("sccache") is not None:
        pytest.skip("missing: a machine without sccache")
    with pytest.raises(BuildFailed, match=message):
        cmake.configure(project, tmp_path / "a", entries, {})
