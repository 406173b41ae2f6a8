# SPDX-License-Identifier: BSD-3-Clause
"""Compares the C++ of this repository with the official headers, by spans of equal tokens.

Names that a user's code refers to are interface and are left out on both sides: includes and conditions of
the preprocessor, macro names with their parameters, namespaces, using-declarations, enumerators, class
heads, function declarations, the signatures of functions, members of public sections, and bodies that are
empty or return one member. The rest is writing: other bodies, member initialisers, private sections,
internal namespaces but for their function declarations, macro bodies. The pieces of a file are joined in
their order, so a list of copied one-line bodies is one long span.

tests/compat/own_writing.py prints both as a table.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("compat", "runtime", "kernels", "python", "examples", "benchmarks", "tests")
SUFFIXES = (".h", ".hpp", ".c", ".cpp", ".inl")

RUN = 15  # spans of equal tokens count as shared from this length

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#[ \t]*(?P<word>\w+)(?P<rest>(?:[^\n\\]|\\.|\\\n)*))
      | (?P<string>(?:u8|[uUL])?R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"
                  |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<name>[A-Za-z_]\w*)
      | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
      | (?P<sign>->|::|<<=|\+\+|--|<=|>=|==|!=|&&|\|\||\.\.\.|[-+*/%&|^]=|\#\#|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DEFINE = re.compile(r"\s*\w+(\([^)]*\))?")
_INTERNAL = re.compile(r"internal|detail|impl", re.IGNORECASE)
_OPEN = {"(": ")", "[": "]", "{": "}"}


def split(text: str) -> tuple[list[str], list[list[str]]]:
    """The tokens of a text without comments and directives, and the bodies of its macros."""
    tokens: list[str] = []
    macros: list[list[str]] = []
    for match in TOKEN.finditer(text):
        if match["directive"] is not None:
            if match["word"] == "define":
                rest = match["rest"].replace("\\\n", " ")
                name = _DEFINE.match(rest)
                body = rest[name.end() :] if name else rest
                macros.append(split(body.replace("#", " "))[0])
        elif match["comment"] is None:
            tokens.append("STRING" if match["string"] is not None else match[0])
    return tokens, macros


def _closing(tokens: list[str], at: int) -> int:
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i] in _OPEN:
            depth += 1
        elif tokens[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def _statement(tokens: list[str], at: int, end: int) -> tuple[int, int]:
    """The end of the statement at `at` (after its `;` or block), and where its block opens or -1."""
    i = at
    while i < end:
        token = tokens[i]
        if token == ";":
            return i + 1, -1
        if token == "{":
            before = tokens[i - 1] if i > at else ""
            initialiser = before == "=" or (
                _has_initialisers(tokens[at:i]) and (before.isidentifier() or before in (">", ","))
            )
            if not initialiser:
                return _closing(tokens, i) + 1, i
            i = _closing(tokens, i) + 1
        elif token in "([":
            i = _closing(tokens, i) + 1
        else:
            i += 1
    return end, -1


def _has_initialisers(head: list[str]) -> bool:
    return any(a == ")" and b == ":" for a, b in pairwise(head))


def _is_accessor(body: list[str]) -> bool:
    return len(body) == 2 or (len(body) == 5 and body[1] == "return" and body[2].isidentifier())


def _without_template(head: list[str]) -> list[str]:
    """A head without `template <...>` and attributes in front."""
    while head[:2] == ["template", "<"]:
        depth, i = 0, 1
        while i < len(head):
            depth += {"<": 1, ">": -1}.get(head[i], 0)
            i += 1
            if depth == 0:
                break
        head = head[i:]
    return head


def _writing(tokens: list[str], at: int, end: int, keep: bool, in_class: bool = False) -> Iterator[str]:
    """The tokens of a scope that are not interface; all tokens if `keep` is set."""
    while at < end:
        if in_class and tokens[at] in ("public", "private", "protected") and tokens[at + 1] == ":":
            keep = tokens[at] == "private"
            at += 2
            continue
        after, block = _statement(tokens, at, end)
        if block < 0:
            declares = not in_class and tokens[after - 2 : after - 1] in ([")"], ["const"])
            if keep and not declares and tokens[at] not in ("friend", "using"):
                yield from tokens[at:after]
            at = after
            continue
        head = _without_template(tokens[at:block])
        close = after - 1
        if after < end and tokens[after] == ";":
            after += 1
        if head[:1] == ["namespace"] or head[:2] in (["extern", "STRING"], ["inline", "namespace"]):
            internal = len(head) == 1 or any(_INTERNAL.search(name) for name in head[1:])
            yield from _writing(tokens, block + 1, close, keep or internal)
        elif "enum" in head[:2]:
            pass
        elif set(head[:2]) & {"class", "struct", "union"} and head[-1:] != [")"]:
            if keep:
                yield from tokens[at:after]
            else:
                private = "class" in head[:2]
                yield from _writing(tokens, block + 1, close, private, in_class=True)
        elif keep:
            yield from tokens[at:after]
        else:
            colon = next((i for i in range(at, block) if tokens[i : i + 2] == [")", ":"]), block - 1)
            body = tokens[block : close + 1]
            yield from tokens[colon + 1 : block]
            if not _is_accessor(body):
                yield from body
        at = after


def writing(text: str) -> list[str]:
    """The rest of a source file without its interface; macro bodies at the end."""
    tokens, macros = split(text)
    remaining = list(_writing(tokens, 0, len(tokens), keep=False))
    for body in macros:
        remaining += body
    return remaining


_WORDS = """
    alignas alignof auto bool break case catch char class const constexpr continue decltype default delete
    do double else enum explicit false final float for friend if inline int long namespace new noexcept
    nullptr operator override private protected public return short signed sizeof static static_assert
    static_cast reinterpret_cast const_cast struct switch template this true typedef typename union unsigned
    using virtual void volatile while std size_t STRING
"""
_KEYWORDS = frozenset(_WORDS.split())


def unnamed(tokens: Iterable[str]) -> list[str]:
    """The tokens with every name except keywords replaced: the text that renaming cannot change."""
    return ["NAME" if t.isidentifier() and t not in _KEYWORDS else t for t in tokens]


@dataclass(frozen=True)
class Shared:
    """The text that a file shares with the official headers."""

    tokens: int
    longest: int
    covered: int
    shared: tuple[tuple[int, int, str], ...]  # start, length, official file

    @property
    def share(self) -> float:
        return self.covered / self.tokens if self.tokens else 0.0


class Official:
    """The official writing, indexed by its spans of RUN tokens."""

    def __init__(self, files: dict[str, list[str]]) -> None:
        self.files = files
        self.index: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
        for name, tokens in files.items():
            for i in range(len(tokens) - RUN + 1):
                self.index[tuple(tokens[i : i + RUN])].append((name, i))

    def compare(self, tokens: list[str]) -> Shared:
        covered = bytearray(len(tokens))
        open_spans: dict[tuple[str, int], int] = {}  # (official file, offset) -> start
        shared: list[tuple[int, int, str]] = []
        for i in range(len(tokens) - RUN + 2):
            occurrences = self.index.get(tuple(tokens[i : i + RUN]), []) if i + RUN <= len(tokens) else []
            now = {(name, j - i): open_spans.get((name, j - i), i) for name, j in occurrences}
            for key, start in open_spans.items():
                if key not in now:
                    shared.append((start, i - 1 + RUN - start, key[0]))
            if occurrences:
                covered[i : i + RUN] = b"\1" * RUN
            open_spans = now
        shared.sort(key=lambda run: -run[1])
        return Shared(len(tokens), shared[0][1] if shared else 0, sum(covered), tuple(shared))


def official_headers() -> Path | None:
    """The headers of the installed official package, or None."""
    for folder in sys.path:
        include = Path(folder) / "executorch/include/executorch"
        if include.is_dir():
            return include
    return None


def prose(text: str) -> list[str]:
    """The words of the comments of a source file."""
    comments = (match["comment"] for match in TOKEN.finditer(text))
    return [word for comment in comments if comment for word in re.findall(r"\w+", comment.lower())]


def read(path: Path, take: Callable[[str], list[str]]) -> list[str]:
    return take(path.read_text(encoding="utf-8", errors="replace"))


def official(include: Path, take: Callable[[str], list[str]] = writing) -> dict[str, list[str]]:
    """The tokens that `take` finds in each of the official headers."""
    files = (path for path in sorted(include.rglob("*")) if path.suffix in SUFFIXES)
    return {str(path.relative_to(include)): read(path, take) for path in files}


def own(take: Callable[[str], list[str]] = writing) -> dict[str, list[str]]:
    """The tokens that `take` finds in each C++ file of this repository."""
    files = (p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*")) if p.suffix in SUFFIXES)
    return {str(path.relative_to(ROOT)): read(path, take) for path in files}


def table(include: Path) -> Iterator[tuple[str, Shared, Shared]]:
    """Each file of ours with its shared text, as it is and with names replaced."""
    theirs = official(include)
    by_name = Official(theirs)
    by_form = Official({name: unnamed(tokens) for name, tokens in theirs.items()})
    for name, tokens in own().items():
        yield name, by_name.compare(tokens), by_form.compare(unnamed(tokens))
