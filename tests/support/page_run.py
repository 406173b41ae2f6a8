# SPDX-License-Identifier: BSD-3-Clause
"""Runs, compiles or parses the blocks of a page in a folder: tests/docs/README.md says by which rules."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from rushlight import process, targets
from support.page_blocks import ROOT, Block

FRAMES = ROOT / "tests" / "docs" / "frames"
SECONDS = 300
COMPILE = ["c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused"]
_BUILT = Path(os.environ.get("RUSHLIGHT_TEST_BUILD", ROOT / "build" / "tests"))
_COMPAT = ROOT / "compat" / "include"
_C10 = _COMPAT / "executorch" / "runtime" / "core" / "portable_type" / "c10"
_GENERATED = [_BUILT / "generated", _BUILT / "generated" / "dtypes", _BUILT / "rushlight" / "ukernel"]
_INCLUDES = [Path(), ROOT, _COMPAT, _C10, *_GENERATED]
_TARGET = re.compile(r"(?:--target|-t)[ =]([\w,-]+)")
_PROMPT = "$ "


class PageFailed(AssertionError):
    """A block that does not do what its page says."""


@dataclass(frozen=True)
class Step:
    """A step for page_session.py, and its expected result."""

    kind: str
    text: str
    line: int
    exit: int = 0
    path: str = ""
    printed: tuple[str, ...] = ()
    """Blocks of which each shows lines of what the step prints, in their order."""

    def data(self, page: str) -> dict[str, object]:
        name = f"{page}:{self.line}"
        return {"kind": self.kind, "text": self.text, "exit": self.exit, "path": self.path, "name": name}


def named_targets(page: list[Block]) -> set[str]:
    """The targets that the page's commands name."""
    ran = [block for block in page if block.language in ("sh", "console") and "not run" not in block.marks]
    names = {name for block in ran for words in _TARGET.findall(block.text) for name in words.split(",")}
    return names & {target.name for target in targets.all_targets()}


def run_page(page: str, blocks: list[Block], folder: Path) -> None:
    """Runs a page's blocks in order. Error: PageFailed."""
    steps = _steps(blocks, folder)
    asked, report = folder.with_name("steps.json"), folder.with_name("report.jsonl")
    asked.write_text(json.dumps([step.data(page) for step in steps]))
    report.touch()
    session = Path(__file__).with_name("page_session.py")
    environment = {"NO_COLOR": "1", "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1"}
    ended = process.run(
        [sys.executable, session, asked, report], cwd=folder, env=environment, timeout=SECONDS
    )
    results = [json.loads(line) for line in report.read_text().splitlines()]
    for step, result in zip(steps, results, strict=False):
        _check(page, step, result["status"], result["output"])
    if len(results) < len(steps):
        line = steps[len(results)].line
        raise PageFailed(f"{page}:{line}: the session ended\n{ended.stdout}{ended.stderr}")


def _check(page: str, step: Step, status: int, output: str) -> None:
    if status != step.exit:
        wanted = f"exit status: expected {step.exit}, got {status}"
        raise PageFailed(f"{page}:{step.line}: {wanted}\n{step.text}\n{output}")
    for shown in step.printed:
        if missing := first_missing(shown, output):
            raise PageFailed(f"{page}:{step.line}: not in its output: {missing!r}\n{step.text}\n{output}")


def first_missing(shown: str, output: str) -> str | None:
    """The first line of `shown` that is not in `output` below those before it. `...` stands for any text."""
    lines = [line.rstrip() for line in output.splitlines()]
    at = 0
    for line in shown.splitlines():
        parts = [re.escape(part) for part in line.strip().split("...")]
        pattern = re.compile(r"\s*" + ".*".join(parts))
        found = next((number for number in range(at, len(lines)) if pattern.fullmatch(lines[number])), None)
        if line.strip() in ("", "..."):
            continue
        if found is None:
            return line
        at = found + 1
    return None


def _steps(blocks: list[Block], folder: Path) -> list[Step]:
    """The steps of a page. YAML and JSON are parsed here; set-ups are made here, before all steps."""
    steps: list[Step] = []
    for block in blocks:
        if "not run" in block.marks:
            if len(block.marks["not run"].split()) < 2:
                raise PageFailed(f"line {block.line}: not run: expected a reason, got nothing")
        elif "output" in block.marks:
            if not steps or steps[-1].kind == "file":
                raise PageFailed(f"line {block.line}: output: expected a block above that is run, got none")
            steps[-1] = replace(steps[-1], printed=(*steps[-1].printed, block.text))
        else:
            steps += _of(block, folder)
    return steps


def _of(block: Block, folder: Path) -> Iterator[Step]:
    """The steps of one block."""
    text = _framed(block)
    if block.language == "setup":
        set_up(block.text, folder)
    elif path := block.marks.get("file"):
        yield Step("file", text, block.line, path=_inside(path, block))
    elif block.language in ("python", "sh"):
        yield Step(block.language, text, block.line, int(block.marks.get("exit", 0)))
    elif block.language == "console":
        yield from _console(block)
    elif block.language == "cpp":
        yield from _compiled(block, text)
    elif block.language in ("yaml", "json"):
        _parse(block)
    elif not block.language.startswith("{"):  # a directive is checked by the build of the site
        raise PageFailed(
            f"line {block.line}: block of {block.language or 'text'}: expected a comment above it, one of "
            "`output`, `file: PATH`, `not run: REASON`; got none"
        )


def _inside(path: str, block: Block) -> str:
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise PageFailed(f"line {block.line}: file: expected a path inside of the page's folder, got {path}")
    return path


def _framed(block: Block) -> str:
    """The block's text, in its frame where it has one."""
    if "frame" not in block.marks:
        return block.text
    frame = FRAMES / block.marks["frame"]
    if not frame.is_file():
        raise PageFailed(f"line {block.line}: frame: expected a file of {FRAMES}, got {frame.name}")
    before, after = re.split(r"(?m)^.*SNIPPET.*$", frame.read_text(), maxsplit=1)
    return before + block.text.rstrip("\n") + after


def set_up(paths: str, folder: Path) -> None:
    """Copies `A, B as C` of the checkout into the folder; `.` is linked, as it is large."""
    for item in paths.split(","):
        source, _, name = item.strip().partition(" as ")
        target = folder / (name or source).strip()
        target.parent.mkdir(parents=True, exist_ok=True)
        if source == ".":
            target.symlink_to(ROOT)
        elif (ROOT / source).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "out", "rushlight-build", "build")
            shutil.copytree(ROOT / source, target, dirs_exist_ok=True, ignore=ignored)
        elif (ROOT / source).is_file():
            shutil.copy(ROOT / source, target)
        else:
            raise PageFailed(f"setup: expected a file or folder of the checkout, got {source}")


def _console(block: Block) -> Iterator[Step]:
    """A step for each line after a prompt; the lines below it are what it prints."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith(_PROMPT):
            commands.append((line.removeprefix(_PROMPT), []))
        elif commands:
            commands[-1][1].append(line)
        else:
            raise PageFailed(f"line {block.line}: console: expected `{_PROMPT}` first, got {line!r}")
    for command, printed in commands:
        shown = "\n".join(printed)
        yield Step("sh", command, block.line, int(block.marks.get("exit", 0)), printed=(shown,))


def _compiled(block: Block, text: str) -> Iterator[Step]:
    name = f"block_{block.line}.cpp"
    yield Step("file", text, block.line, path=name)
    includes = [word for folder in _INCLUDES for word in ("-I", str(folder))]
    yield Step("sh", shlex.join([*COMPILE, *includes, name]), block.line)


def _parse(block: Block) -> None:
    try:
        if block.language == "json":
            json.loads(block.text)
        else:
            list(yaml.safe_load_all(block.text))
    except (ValueError, yaml.YAMLError) as error:
        raise PageFailed(f"line {block.line}: {block.language}: {error}") from error
