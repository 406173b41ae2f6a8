# SPDX-License-Identifier: BSD-3-Clause
"""Names in files and names of files reach the terminal as text: no escapes, marks of direction or markup."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path

import pytest

import rushlight
from rushlight.cli.main import main

INTEROP = Path(__file__).parents[2] / "interop"
# As long as the names in the file that they replace.
HOSTILE = {
    b"forward": "\u202e\x1b[2J".encode(),
    b"aten::relu": b"at\x1b]0;\x07\xc2\x9bx",
    b"aten::addmm": "aten::\u2066\r\b".encode(),
}
ODD_FILES = [
    "a\x1b[31mb.pte",
    "a\u202eb.pte",
    "[bold]x[red].pte",
    "[@click=exit].pte",
    ":smile:.pte",
    "a\nb.pte",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound program whose names are hostile."""
    data = (INTEROP / "model_dscnn" / "model.pte").read_bytes()
    for name, other in HOSTILE.items():
        assert name in data and len(name) == len(other)
        data = data.replace(name, other)
    path = tmp_path_factory.mktemp("hostile") / "model.pte"
    path.write_bytes(data)
    return path


def shown(arguments: list[object], capsys: pytest.CaptureFixture[str]) -> str:
    """All that the command printed; nothing of it is hidden."""
    with pytest.raises(SystemExit):
        main([str(word) for word in arguments])
    printed = capsys.readouterr()
    text = printed.out + printed.err
    assert [c for c in text if not c.isprintable() and c not in "\n\u00a0"] == []
    assert "Traceback" not in text
    return text


def test_names_in_a_file_are_shown_as_escapes(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(["inspect", hostile], capsys)
    assert "method \\u202e\\x1b[2J" in text and "at\\x1b]0;\\x07\\x9bx" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["bake", "-o", "out"],
        ["run"],
        ["run", "--method", "\x1b[31m"],
        ["run", "-t", "\x1b[31m"],
        ["size"],
    ],
    ids=ascii,
)
def test_errors_show_names_as_escapes(arguments, hostile, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "\\x1b" in shown([arguments[0], hostile, *arguments[1:]], capsys)


def test_json_of_hostile_names_is_ascii(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(["inspect", hostile, "--json"], capsys)
    assert text.isascii() and json.loads(text)["methods"][0]["name"] == "\u202e\x1b[2J"


@pytest.mark.parametrize("name", ODD_FILES, ids=ascii)
def test_names_of_files_are_text(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    visible = ascii(name)[1:-1]
    assert visible.replace("\\n", "\n") in shown(["inspect", path], capsys)  # there is none
    path.write_bytes((INTEROP / "model_dscnn" / "model.pte").read_bytes())
    assert visible.replace("\\n", "\n") in shown(["inspect", path], capsys)
    assert visible.replace("\\n", "\n") in shown(["check", path], capsys)
    assert " operators, weights " in shown(["bake", path, "-o", tmp_path / "out"], capsys)
    for file in (tmp_path / "out").glob("*.cpp"):
        assert file.read_text().isascii() and "\x1b" not in file.read_text()


def test_a_wrong_command_line_is_shown_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\\x1b[31m" in shown(["inspect", "a", "\x1b[31m"], capsys)
    assert "\\u202e" in shown(["\u202e"], capsys)


def test_a_name_that_is_not_utf_8_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "\\udcff" in shown(["inspect", str(tmp_path / "a\udcff.pte")], capsys)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_no_name_as_it_is(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(SystemExit):
        main(["inspect", str(hostile)])
    text = terminal.getvalue()
    assert "\x1b[1m" in text  # its own colours
    assert "\\x1b[2J" in text
    assert not any(bad in text for bad in ("\x1b[2J", "\x1b]0", "\u202e", "\x9b", "\x07"))


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")
    text = shown(["inspect", INTEROP / "model_dscnn" / "model.pte"], capsys)
    (row,) = [line for line in text.splitlines() if "aten::_native_batch_norm_legit_no_training.out" in line]
    assert row.count("float32") == 8
    rows = json.loads(shown(["targets", "--json"], capsys))
    text = shown(["targets"], capsys)
    for row in rows:
        (line,) = [line for line in text.splitlines() if line.startswith(f"│ {row['name']} ")]
        assert row["cpu"] in line and (row["build_only"] or "") in line and ", ".join(row["missing"]) in line


def test_commands_print_through_the_console_only() -> None:
    folder = Path(rushlight.__file__).parent / "cli"
    found = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if path.name in ("console.py", "plain.py"):
                continue
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                )
                found += [f"{path.name}: {name}" for name in names if name.split(".")[0] == "rich"]
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"):
                    found.append(f"{path.name}:{node.lineno}: {called}")
    assert found == []
