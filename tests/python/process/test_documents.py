# SPDX-License-Identifier: BSD-3-Clause
"""YAML and JSON of strangers are read within bounds."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

import rushlight
from rushlight.cli.main import main
from rushlight.documents import MAX_DEPTH, parse_json, read_json, read_yaml
from rushlight.errors import InvalidArgument, InvalidSelection
from rushlight.program.debug import read_debug_record


def nested_aliases(levels: int, each: int = 10) -> str:
    """A list of `each` ** (levels + 1) values, written with aliases of aliases."""
    lines = ["a0: &a0 [" + ",".join("x" * each) + "]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * each)}]" for i in range(1, levels)]
    return "\n".join([*lines, f"operators: *a{levels - 1}"]) + "\n"


def test_aliases_of_aliases_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(nested_aliases(10))
    start = time.process_time()
    with pytest.raises(
        InvalidSelection, match=r"bad\.yaml: line 6: expected at most 1,000,000 values"
    ) as caught:
        read_yaml(path, error=InvalidSelection)
    assert time.process_time() - start < 5 and "aliases" in caught.value.next_step


@pytest.mark.parametrize(
    "arguments", [["ops", "merge"], ["matrix"], ["build", "--ops-yaml"], ["ops", "resolve"]], ids=" ".join
)
def test_commands_refuse_aliases_of_aliases(arguments, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.yaml"
    path.write_text(nested_aliases(10))
    if arguments[0] == "build":  # where code generation reads the list; CMake would start it
        from rushlight.codegen.__main__ import main as generate

        assert generate([*arguments[1:], str(path), "--out", str(tmp_path / "out")]) == 22
    else:
        with pytest.raises(SystemExit) as caught:
            main([*arguments, str(path)])
        assert caught.value.code == 22
    assert "values including aliases" in capsys.readouterr().err


def test_merged_keys_count_like_aliases(tmp_path: Path) -> None:
    lines = ["a0: &a0 {k: 1}"] + [
        f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 9)
    ]
    path = tmp_path / "bad.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidArgument, match="values including aliases"):
        read_yaml(path)


def test_a_value_inside_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("a: &a\n  b: [1, *a]\n")
    with pytest.raises(InvalidArgument, match=r"line 2: expected no value inside itself, got \*a"):
        read_yaml(path)


def test_deep_yaml_is_refused_before_the_parsers_stack_ends(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("[" * (MAX_DEPTH + 1))
    with pytest.raises(InvalidArgument, match=f"line 1: expected at most {MAX_DEPTH} levels"):
        read_yaml(path)
    # PyYAML's own bound, from 6.0.4 on, may come first: it reads ahead.
    path.write_text("[" * 200_000)
    with pytest.raises(InvalidArgument, match=r"levels of nesting|maximum nesting depth"):
        read_yaml(path)


def test_honest_yaml_keeps_its_aliases(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text("a: &a [1, 2]\nb: *a\nc: &c {c: 3}\nd: {<<: *c, e: *c}\n")
    assert read_yaml(path) == {"a": [1, 2], "b": [1, 2], "c": {"c": 3}, "d": {"c": 3, "e": {"c": 3}}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"1" * 5000, "expected JSON"),
        (b"\xff", "expected JSON"),
        (b"{", "expected JSON"),
        (b"", "expected JSON"),
    ],
)
def test_json_that_cannot_be_read_is_an_error_of_ours(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "model.debug.json"
    path.write_bytes(content)
    for read in (read_json, read_debug_record):
        with pytest.raises(InvalidArgument, match=rf"model\.debug\.json: .*{says}"):
            read(path)
    with pytest.raises(InvalidArgument, match=f"that: .*{says}"):
        parse_json(content, what="that")


def test_a_case_of_deep_json_is_refused(tmp_path, capsys) -> None:
    case = tmp_path / "case.json"
    case.write_text("[" * 100_000)
    with pytest.raises(SystemExit) as caught:
        main(["run", str(tmp_path / "model.pte"), "--case", str(case)])
    assert caught.value.code == 11 and "nested too deeply" in capsys.readouterr().err


def test_nobody_else_reads_yaml_or_json() -> None:
    readers = {"load", "loads", "safe_load", "load_all", "safe_load_all", "full_load", "unsafe_load"}
    package = Path(rushlight.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in readers
        and isinstance(node.value, ast.Name)
        and node.value.id in ("json", "yaml")
    ]
    assert [location for location in found if not location.startswith("documents.py")] == []
