# SPDX-License-Identifier: BSD-3-Clause
"""Parses regular expressions of pre-tokenizers into trees over sets of characters.

The package `regex` defines the members of character classes; its Unicode version is newer than Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from rushlight import errors

CODE_POINTS = 0x110000
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Characters:
    """One character of a set; `index` is the set's index in the alphabet."""

    index: int


@dataclass(frozen=True)
class Sequence_:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first alternative that leads to a match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    part: Node
    least: int
    most: int | None
    lazy: bool
    possessive: bool


@dataclass(frozen=True)
class Ahead:
    """The next character is in the set, or with `negative` is not in it; the end of the text is in no set."""

    index: int
    negative: bool


Node = Characters | Sequence_ | Choice | Repeat | Ahead


def refuse(pattern: str, what: str) -> errors.InvalidArgument:
    return errors.InvalidArgument(
        f"pattern {pattern!r}: expected a regular expression without {what}",
        next_step="Use a tokenizer with a simpler pre-tokenizer, or open an issue with this pattern.",
    )


class Alphabet:
    """The character sets used by the patterns of a vocabulary, without duplicates."""

    def __init__(self) -> None:
        self._all = "".join(map(chr, _scalars()))
        self._index: dict[str, int] = {}
        self.masks: list[Mask] = []

    def add(self, source: str) -> int:
        """The index of the set matched by `source`, an expression for one character."""
        return self.add_found(source, regex.compile(source).findall)

    def add_found(self, name: str, find: Callable[[str], Iterable[str]]) -> int:
        """The index of the set of characters that `find` returns from a text."""
        if name not in self._index:
            self._index[name] = len(self.masks)
            mask = np.zeros(CODE_POINTS, np.bool_)
            mask[[ord(c) for c in find(self._all)]] = True
            self.masks.append(mask)
        return self._index[name]


def _scalars() -> list[int]:
    return [code for code in range(CODE_POINTS) if not 0xD800 <= code < 0xE000]


# In Oniguruma's \w the only digits and numerals are decimal digits, and joiners are missing.
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
WORD = f"[{_WORD}]"
SPACE = r"\s"
_CLASSES = {"s": r"\s", "S": r"\S", "d": r"\d", "D": r"\D", "w": WORD, "W": f"[^{_WORD}]", "h": "[0-9a-fA-F]"}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b", "0": "\0"}


class Parser:
    """Parses one pattern. Errors: InvalidArgument for syntax that is not supported."""

    def __init__(self, pattern: str, alphabet: Alphabet) -> None:
        self._pattern = pattern
        self._alphabet = alphabet
        self._at = 0
        self._ignore_case = False

    def parse(self) -> Node:
        node = self._choice()
        if self._at < len(self._pattern):
            raise refuse(self._pattern, "an unmatched ')'")
        return node

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        self._at += len(text) if found else 0
        return found

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise refuse(self._pattern, "an open end")
        self._at += 1
        return self._pattern[self._at - 1]

    def _set(self, source: str) -> Characters:
        return Characters(self._alphabet.add(f"(?i:{source})" if self._ignore_case else source))

    def _choice(self) -> Node:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._at < len(self._pattern) and not self._peek("|") and not self._peek(")"):
            if self._take("(?i)"):
                self._ignore_case = True
                continue
            parts.append(self._quantified(self._atom()))
        return parts[0] if len(parts) == 1 else Sequence_(tuple(parts))

    def _quantified(self, node: Node) -> Node:
        bounds = self._bounds()
        if bounds is None:
            return node
        if isinstance(node, Ahead):
            raise refuse(self._pattern, "a repeated look-ahead")
        lazy = self._take("?")
        possessive = not lazy and self._take("+")
        return self._quantified(Repeat(node, *bounds, lazy, possessive))

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in {"?": (0, 1), "*": (0, None), "+": (1, None)}.items():
            if self._take(sign):
                return bounds
        counted = regex.compile(r"\{(\d*)(,?)(\d*)\}").match(self._pattern, self._at)
        if counted is None or not (counted[1] or counted[3]):
            return None
        self._at = counted.end()
        least = int(counted[1] or 0)
        most = int(counted[3]) if counted[3] else None if counted[2] else least
        if max(least, most or 0) > 1000:
            raise refuse(self._pattern, "more than 1000 repetitions")
        return least, most

    def _atom(self) -> Node:
        if self._take("("):
            return self._group()
        if self._take("["):
            return self._set(self._class())
        if self._take("\\"):
            return self._set(self._escape())
        if self._peek("^") or self._peek("$"):
            raise refuse(self._pattern, f"an anchor {self._next()}")
        if self._take("."):
            return self._set(r"[^\n]")
        return self._set(regex.escape(self._next()))

    def _group(self) -> Node:
        for start in ("?!", "?="):
            if self._take(start):
                return self._ahead(negative=start == "?!")
        before = self._ignore_case
        if self._take("?i:"):
            self._ignore_case = True
        elif self._peek("?") and not self._take("?:"):
            raise refuse(self._pattern, f"a group ({self._pattern[self._at : self._at + 3]}...)")
        node = self._choice()
        self._ignore_case = before
        self._close()
        return node

    def _ahead(self, *, negative: bool) -> Node:
        node = self._choice()
        self._close()
        if not isinstance(node, Characters):
            raise refuse(self._pattern, "a look-ahead for more than one character")
        return Ahead(node.index, negative)

    def _close(self) -> None:
        if not self._take(")"):
            raise refuse(self._pattern, "an open group")

    def _escape(self) -> str:
        """The expression for an escape, from after the backslash."""
        kind = self._next()
        if kind in "pP":
            begin = self._at
            self._at = self._pattern.find("}", begin) + 1
            if not self._at or self._pattern[begin] != "{":
                raise refuse(self._pattern, "a property without {}")
            name = self._pattern[begin + 1 : self._at - 1]
            negative = (kind == "P") != name.startswith("^")
            return f"\\{'P' if negative else 'p'}{{{name.removeprefix('^')}}}"
        if kind in _CLASSES:
            return _CLASSES[kind]
        if kind in _CONTROLS:
            return str(regex.escape(_CONTROLS[kind]))
        if kind in "xu":
            return str(regex.escape(self._hexadecimal(2 if kind == "x" else 4)))
        if kind.isalnum():
            raise refuse(self._pattern, f"\\{kind}")
        return str(regex.escape(kind))

    def _hexadecimal(self, digits: int) -> str:
        text = self._pattern[self._at : self._at + digits]
        if self._take("{"):
            end = self._pattern.find("}", self._at)
            text, self._at = self._pattern[self._at : end], end + 1
        else:
            self._at += digits
        return chr(int(text, 16))

    def _class(self) -> str:
        """The bracketed class, from after its '[', with its escapes expanded."""
        parts = ["[^" if self._take("^") else "["]
        first = True
        while not self._take("]") or first:
            if self._peek("[") or self._peek("&&"):
                raise refuse(self._pattern, "sets within a class")
            if self._take("\\"):
                escape = self._escape()
                if escape.startswith("[^"):
                    raise refuse(self._pattern, "\\W in a class")
                parts.append(escape[1:-1] if escape.startswith("[") else escape)
            else:
                character = self._next()
                parts.append(character if character in "-" else regex.escape(character))
            first = False
        return "".join(parts) + "]"
