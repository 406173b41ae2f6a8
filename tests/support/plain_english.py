# SPDX-License-Identifier: BSD-3-Clause
"""Finds comments, docstrings, messages and pages that are not plain English.

The rules cover what a pattern can decide: openings that leave a sentence without a verb, phrases that
replace a term of the field, and the form `thing: expected X, got Y` of error messages.
docs/glossary.md has the terms.

    python tests/support/plain_english.py [PATH...]

prints the findings of the tracked files under PATH (default: all) and exits with 1 if there are any.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rushlight import errors
from support.own_writing import TOKEN

ROOT = Path(__file__).resolve().parents[2]
_HASH_COMMENTS = (".cmake", ".txt", ".toml", ".yaml", ".sh", "dev", "run")
_CPP = (".h", ".cpp", ".inl")
BAD_ON_PURPOSE = ("tests/test_plain_english.py", "tests/support/plain_english.py")
"""The lint and its tests, whose strings hold what it finds."""


@dataclass(frozen=True)
class Text:
    """A piece of prose: the line that it begins on, and whether it is a comment, a string or a page."""

    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class Finding:
    """A violation of a rule in a line, and the replacement."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


@dataclass(frozen=True)
class Rule:
    """A pattern that plain English avoids, and its replacement."""

    pattern: re.Pattern[str]
    instead: str


def _rule(pattern: str, instead: str) -> Rule:
    return Rule(re.compile(pattern), instead)


_OPENING = re.compile(
    r"(?:^|(?<=[.;!] ))"
    r"(?:(?:What|Whether|Whatever|Of(?! (?:these|course))|Those)\b|^(?:what|whether)\b)"
    r"[^.?;]*[.?;]?"
)
"""Matches the start of a text or sentence that begins with a word that makes it a clause; questions pass."""

PHRASES = (
    _rule(r"\bthat (?:is|are) there\b", "name what exists"),
    _rule(r"\bthat there (?:is|are)\b", "name what exists"),
    _rule(r"\b(?:is|are) not there\b", "write: missing"),
    _rule(r"\b[Tt]hose (?:that|which|of)\b", "repeat the noun"),
    _rule(r"\b(?:the )?ones (?:that|which)\b", "repeat the noun"),
    _rule(r"\bsome of either\b", "name both"),
    _rule(r"\bso many\b", "write the count's name"),
    _rule(r"\bfor good\b", "write: permanently, or name the lifetime"),
    _rule(r"\bof (?:its|their|one's) own\b", "write: separate, or its own X"),
    _rule(r"\ball that (?:is|are)\b", "write: everything, or name it"),
    _rule(r"\bat hand\b", "write: available, in registers, in memory"),
    _rule(r"\bgo(?:es)? on with\b", "write: continues with"),
    _rule(r"\b(?:is|are) looked at\b", "write: is checked, is examined"),
    _rule(r"\bis had\b", "name the verb"),
    _rule(r"\brooms?\b", "write: space, capacity, memory"),
    _rule(
        r"\b(?:the|a|its|their|this|that|each|every|one|same|other|no|all|which) places?\b",
        "write: position, offset, index, slot or location",
    ),
    _rule(r"\bruns of\b", "write: spans of"),
    _rule(
        r"\b(?:all|both|two|three|four|many|other|which|some) ways\b|\bways of\b",
        "write: methods, algorithms",
    ),
)
"""Phrases of a private dialect. A phrase inside of backquotes or in code is not prose, and passes."""


def tracked(paths: Iterable[str] = ()) -> list[Path]:
    """The tracked files under `paths`, or all; without files that hold data instead of prose."""
    command = ["git", "ls-files", "-z", "--", *paths]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = [name for name in listed.split("\0") if name]
    kinds = (*_CPP, *_HASH_COMMENTS, ".py", ".md")
    return [
        Path(name)
        for name in names
        if name.endswith(kinds) and name not in BAD_ON_PURPOSE and (ROOT / name).is_file()
    ]


def texts(path: Path, source: str) -> Iterator[Text]:
    """The prose of a file, in order."""
    if path.suffix == ".md":
        yield from _page_texts(source)
    elif path.suffix == ".py":
        yield from _joined(_python_comments(source))
        yield from _python_strings(source)
    elif path.suffix in _CPP:
        yield from _joined(_cpp_comments(source))
        yield from _cpp_strings(source)
    else:
        yield from _joined(_hash_comments(source))


def findings(path: Path, source: str) -> Iterator[Finding]:
    """Yields the lines of a file that break a rule."""
    for text in texts(path, source):
        prose = re.sub(r"`[^`]*`", "`", text.text)
        if (match := _OPENING.search(prose)) and not match[0].endswith("?"):
            yield Finding(
                path, text.line, "a clause without a verb; begin with a subject or verb", match[0][:80]
            )
        for rule in PHRASES:
            for match in rule.pattern.finditer(prose):
                around = prose[max(0, match.start() - 20) : match.end() + 20]
                yield Finding(path, text.line, rule.instead, around)
    if path.is_relative_to("python/rushlight") and path.suffix == ".py":
        for line, message in _messages(source):
            if not re.match(r"[^:]+: ", message) or message.endswith("."):
                yield Finding(path, line, "form of a message: `thing: expected X, got Y`", message[:80])


def _joined(comments: Iterable[tuple[int, bool, str]]) -> Iterator[Text]:
    """Comments as blocks: comments alone on lines that follow each other are one text."""
    first, last, words = 0, 0, list[str]()
    for line, alone, comment in comments:
        if words and alone and line == last + 1 and comment:
            words.append(comment)
        else:
            if words:
                yield Text(first, "comment", " ".join(words))
            first, words = line, [comment] if comment else []
        last = line if alone else -1
    if words:
        yield Text(first, "comment", " ".join(words))


def _python_comments(source: str) -> Iterator[tuple[int, bool, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and "SPDX" not in token.string:
            alone = not token.line[: token.start[1]].strip()
            yield token.start[0], alone, token.string.lstrip("#").strip()


def _cpp_comments(source: str) -> Iterator[tuple[int, bool, str]]:
    for match in TOKEN.finditer(source):
        if match["comment"] is None or "SPDX" in match["comment"]:
            continue
        begin = source.rfind("\n", 0, match.start()) + 1
        alone = not source[begin : match.start()].strip()
        yield source.count("\n", 0, match.start()) + 1, alone, match["comment"].strip("/* \n")


def _hash_comments(source: str) -> Iterator[tuple[int, bool, str]]:
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("#") and "SPDX" not in line:
            yield number, True, line.strip().lstrip("#").strip()


def _python_strings(source: str) -> Iterator[Text]:
    """Strings of three words or more: docstrings, messages, help."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = " ".join(node.value.split())
            if text.count(" ") >= 2:
                yield Text(node.lineno, "string", text)


def _cpp_strings(source: str) -> Iterator[Text]:
    for match in TOKEN.finditer(source):
        string = match["string"]
        if string is not None and string.count(" ") >= 2 and string.startswith('"'):
            yield Text(source.count("\n", 0, match.start()) + 1, "string", string.strip('"'))


def _page_texts(source: str) -> Iterator[Text]:
    """Paragraphs of a page, without headings, code blocks and the parts that scripts write."""
    fence, written, words, first = "", False, list[str](), 0
    for number, line in enumerate([*source.splitlines(), ""], 1):
        if marker := re.match(r"\s*(```+|~~~+)", line):
            fence = "" if fence and marker[1].startswith(fence) else fence or marker[1]
            line = ""
        written = (written or line.startswith("<!-- written by")) and not line.startswith("<!-- end of")
        if fence or written or not line.strip() or line.lstrip().startswith(("#", "|", "-", "<!--")):
            if words:
                yield Text(first, "page", " ".join(words))
            words = []
        if fence or written or line.startswith("#"):
            continue
        if (text := line.strip().lstrip("-| ").strip()) and "<!--" not in text:
            first = first if words else number
            words.append(text)


def _messages(source: str) -> Iterator[tuple[int, str]]:
    """The messages that the package's errors are raised with, if they are literals; values appear as {}."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        kind = getattr(errors, getattr(node.exc.func, "id", ""), None)
        if not (isinstance(kind, type) and issubclass(kind, errors.RushlightError)):
            continue
        if next(iter(inspect.signature(kind).parameters)) == "message":
            message = _literal(node.exc.args[0])
            if message is not None:
                yield node.lineno, message


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) or "{}" for part in node.values)
    return None


def main(paths: list[str]) -> int:
    """Prints the findings of the files; 1 if there are any."""
    count = 0
    for path in tracked(paths):
        for finding in findings(path, (ROOT / path).read_text()):
            print(finding)
            count += 1
    print(f"{count} findings", file=sys.stderr)
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
