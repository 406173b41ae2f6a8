# SPDX-License-Identifier: BSD-3-Clause
"""The table of a build's options: declared once, and the same for CMake, commands, Python and the page."""

from __future__ import annotations

import inspect
import re
import shutil
from dataclasses import fields
from pathlib import Path

import click
import pytest

from rushlight import process, targets
from rushlight.build import BuildRequest
from rushlight.build.api import build
from rushlight.cli.build import build_command
from rushlight.codegen.options import aliases, merged, option, options, split_names
from rushlight.process import Result
from support import options_page

ROOT = Path(__file__).parents[3]
MOST_OF_OURS = 20
TOOLCHAINS = {"RUSHLIGHT_BOARD", "RUSHLIGHT_PLATFORM", "RUSHLIGHT_ZIG", "CMAKE_BUILD_TYPE"}
"""Variables that toolchain files declare: they are read before the options."""

OTHER_MEANINGS = {
    ("cli/kernels.py", "--dtypes"),
    ("cli/new_op.py", "--dtypes"),
    ("cli/new_op.py", "--kernels"),
    ("cli/profile.py", "--model"),
}
"""Flags of the same spelling that are no option of a build."""

DECLARED = re.compile(r"\b(?:option\(|set\()\s*((?:RUSHLIGHT|EXECUTORCH)_\w+)\b([^()]*)")
PROJECT = f"""
cmake_minimum_required(VERSION 3.24)
project(options NONE)
include("{ROOT}/cmake/selection.cmake")
include("{ROOT}/cmake/options.cmake")
foreach(name IN ITEMS EXECUTORCH_SELECT_OPS_LIST EXECUTORCH_SELECT_ALL_OPS RUSHLIGHT_EMBEDDED_MODEL
        RUSHLIGHT_EMBEDDED_DATA RUSHLIGHT_EMBEDS_BUNDLE)
    message(STATUS "${{name}}=${{${{name}}}}")
endforeach()
rushlight_generator_words(words selection libraries build target)
message(STATUS "words=${{words}}")
"""
WORDS = [(row.name, word) for row in options() for word in row.words]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    return tmp_path


def configure(project: Path, *defines: str) -> tuple[dict[str, str], Result]:
    """The values that the project prints and that CMake's cache holds, by name; and the whole output."""
    shutil.rmtree(project / "out", ignore_errors=True)
    result = process.run(["cmake", "-S", project, "-B", project / "out", *(f"-D{word}" for word in defines)])
    cache = project / "out" / "CMakeCache.txt"
    found = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.M)) if cache.is_file() else {}
    return {**found, **dict(re.findall(r"^-- (\w+)=(.*)$", result.stdout, re.M))}, result


def has(word: str) -> str:
    return "RUSHLIGHT_HAS_" + word.upper().replace("-", "_")


def build_files() -> list[Path]:
    folders = ("cmake", "compat", "kernels", "python", "toolchains", "tests/runtime", "benchmarks")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [ROOT / "CMakeLists.txt"] + [
        path for path in found if path.suffix == ".cmake" or path.name == "CMakeLists.txt"
    ]


def test_the_page_shows_the_table() -> None:
    written = options_page.PAGE.read_text()
    assert written == options_page.page(), "run python tests/python/build/options_page.py"


def test_no_other_file_declares_a_cache_entry() -> None:
    declared = {
        (str(path.relative_to(ROOT)), name)
        for path in build_files()
        for name, rest in DECLARED.findall(path.read_text())
        if "CACHE" in rest.split() and "INTERNAL" not in rest.split()
    }
    assert {name for _, name in declared} <= TOOLCHAINS
    assert {file.split("/")[0] for file, _ in declared} == {"toolchains"}


def test_no_flags_follow_from_what_a_path_matches() -> None:
    """The code generator lists the sources that get separate flags."""
    filters = re.compile(r'list\(\s*FILTER[^()]*REGEX\s+"[^"]*/')
    found = [path for path in build_files() if filters.search(path.read_text())]
    assert [path for path in found if "toolchains" not in path.parts] == []


def test_there_are_few_options_of_ours() -> None:
    ours = {row.name for row in options() if row.name.startswith("RUSHLIGHT_")}
    assert len(ours | TOOLCHAINS - {"CMAKE_BUILD_TYPE"}) <= MOST_OF_OURS


def test_no_other_file_spells_a_flag() -> None:
    flags = {row.flag for row in options() if row.flag}
    package = ROOT / "python" / "rushlight"
    spelled = {
        (path.relative_to(package).as_posix(), flag)
        for path in package.rglob("*.py")
        for flag in re.findall(r'"(--[\w-]+)"', path.read_text())
        if flag in flags
    }
    assert spelled == OTHER_MEANINGS
    arguments = flags | {argument for _, word in WORDS for argument in word.arguments.values()}
    for path in build_files():
        words = set(re.findall(r"(?<![\w-])--[\w-]+", re.sub(r"#.*", "", path.read_text())))
        assert not words & arguments - {"--target"}, path


def test_each_flag_is_a_field_a_parameter_and_a_flag_of_the_command() -> None:
    rows = [row for row in options() if row.flag]
    of_command = {name for p in build_command.params if isinstance(p, click.Option) for name in p.opts}
    assert {row.field for row in rows} <= {field.name for field in fields(BuildRequest)}
    assert {row.field for row in rows} <= set(inspect.signature(build).parameters)
    assert {row.flag for row in rows} <= of_command


def test_a_request_says_every_option_that_has_a_flag() -> None:
    request = BuildRequest("host", ops=("a", "b"), kernels=(Path("/k"),), only_dtypes=("bool",), dtypes="all")
    entries = request.cache_entries(targets.get("host"))
    assert {row.name for row in options() if row.flag} <= entries.keys()
    assert entries["EXECUTORCH_SELECT_OPS_LIST"] == "a;b" and entries["RUSHLIGHT_KERNEL_LIBRARIES"] == "/k"
    assert (
        entries["EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD"] == "OFF" and entries["RUSHLIGHT_DTYPES"] == "bool"
    )
    assert option("dtypes").cache_value("model") == "ON"


def test_names_and_former_spellings_mean_one_thing() -> None:
    names = [row.name for row in options()] + [word.was for _, word in WORDS] + list(aliases())
    assert len(names) == len(set(names))
    assert len({has(word.word) for _, word in WORDS}) == len(WORDS)


def test_lists_are_split_at_commas_semicolons_and_spaces() -> None:
    assert split_names("a,b;c d") == split_names(["a,b", "c;d"]) == ["a", "b", "c", "d"]
    assert split_names("") == split_names([]) == []


def test_entries_that_are_given_win_and_words_are_joined() -> None:
    ours = {"RUSHLIGHT_FEATURES": "call-graph", "A": "1"}
    assert merged(ours, {"A": "2"}) == {"RUSHLIGHT_FEATURES": "call-graph", "A": "2"}
    assert (
        merged(ours, {"RUSHLIGHT_FEATURES": "no-call-graph"})["RUSHLIGHT_FEATURES"]
        == "call-graph;no-call-graph"
    )
    former = merged(ours, {"RUSHLIGHT_CALL_GRAPH": "OFF", "RUSHLIGHT_LIMITS": "ON"})
    assert former["RUSHLIGHT_FEATURES"] == "call-graph;no-call-graph;limits" and former.keys() == ours.keys()


@pytest.mark.heavy
def test_words_are_on_or_off_and_the_later_one_counts(project: Path) -> None:
    plain, _ = configure(project)
    assert plain[has("limits")] == plain[has("prepare")] == plain[has("runner")] == "ON"
    assert plain[has("tests")] == plain[has("small")] == plain[has("compat")] == "OFF"
    said, result = configure(
        project, "RUSHLIGHT_FEATURES=small,no-limits;limits", "RUSHLIGHT_BUILD=tests;no-runner"
    )
    assert said[has("runner")] == "OFF"
    assert said[has("small")] == said[has("limits")] == said[has("tests")] == said[has("compact")] == "ON"
    assert said[has("compat")] == "ON" and "--small" in said["words"] and "--official-names" in said["words"]
    assert "Deprecation" not in result.stderr
    _, refused = configure(project, "RUSHLIGHT_FEATURES=smal")
    assert refused.returncode != 0 and "'smal'" in refused.stderr and "no-small" in refused.stderr


@pytest.mark.heavy
def test_former_spellings_work_and_name_the_new_ones(project: Path) -> None:
    plain, _ = configure(project)
    renamed = [(name, word) for name, word in WORDS if word.was]
    others = {word.was: "OFF" if plain[has(word.word)] == "ON" else "ON" for _, word in renamed}
    said, result = configure(project, *(f"{name}={value}" for name, value in others.items()))
    text = " ".join(result.stderr.split())
    for name, word in renamed:
        assert said[has(word.word)] == others[word.was], word.was
        assert f"{word.was}: write {name}={word.word}" in text
    newer, _ = configure(project, "RUSHLIGHT_LIMITS=OFF", "RUSHLIGHT_FEATURES=limits")
    assert newer[has("limits")] == "ON"


@pytest.mark.heavy
def test_embedded_files_are_told_apart_by_what_they_hold(project: Path) -> None:
    kinds = {"program.bin": b"ET12", "cases.bin": b"BP08", "weights.bin": b"FT01"}
    for name, identifier in kinds.items():
        (project / name).write_bytes(bytes(4) + identifier + bytes(8))
    said, _ = configure(project, "RUSHLIGHT_EMBED=weights.bin,program.bin")
    assert said["RUSHLIGHT_EMBEDDED_MODEL"] == str(project / "program.bin")
    assert said["RUSHLIGHT_EMBEDDED_DATA"] == str(project / "weights.bin")
    assert said["RUSHLIGHT_EMBEDS_BUNDLE"] == "OFF"
    said, result = configure(project, "RUSHLIGHT_EMBED_MODEL=cases.bin", "RUSHLIGHT_EMBED_DATA=weights.bin")
    assert said["RUSHLIGHT_EMBEDDED_MODEL"] == str(project / "cases.bin")
    assert said["RUSHLIGHT_EMBEDDED_DATA"] == str(project / "weights.bin")
    assert said["RUSHLIGHT_EMBEDS_BUNDLE"] == "ON"
    assert "RUSHLIGHT_EMBED_MODEL: write RUSHLIGHT_EMBED instead" in " ".join(result.stderr.split())
    _, refused = configure(project, "RUSHLIGHT_EMBED=program.bin,cases.bin")
    assert refused.returncode != 0 and "expected one program" in refused.stderr


@pytest.mark.heavy
def test_the_generator_gets_the_flags_of_the_table(project: Path) -> None:
    said, _ = configure(
        project,
        "EXECUTORCH_SELECT_OPS_LIST=aten::add.out,aten::mm.out",
        "SELECT_OPS_LIST=aten::mul.out",
        "SELECT_ALL_OPS=ON",
        "RUSHLIGHT_DTYPES=float;bool",
        "RUSHLIGHT_LIBRARY_PRIORITY=a;b",
        "RUSHLIGHT_PREFER=aten::add.out=a,aten::mm.out=b",
        "RUSHLIGHT_KERNEL_LIBRARIES=own",
        "DTYPE_SELECTIVE_BUILD=1",
    )
    words = said["words"].split(";")
    assert words[words.index("--ops") + 1] == "aten::add.out,aten::mm.out,aten::mul.out"
    assert "--all-ops" in words and words[words.index("--dtypes") + 1] == "model"
    assert words[words.index("--only-dtypes") + 1] == "float,bool"
    assert words[words.index("--priority") + 1] == "a,b"
    assert words[words.index("--prefer") + 1] == "aten::add.out=a,aten::mm.out=b"
    assert words[words.index("--kernels") + 1] == str(project / "own")
