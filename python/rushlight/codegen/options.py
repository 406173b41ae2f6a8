# SPDX-License-Identifier: BSD-3-Clause
"""The options of a build, from cmake/options.json: CMake cache entries, and the corresponding flags of the
command line and of the code generator."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rushlight.documents import read_json
from rushlight.sources import options_file

BACKENDS = "RUSHLIGHT_BACKENDS"
BAKED = "RUSHLIGHT_BAKED"
BUILD = "RUSHLIGHT_BUILD"
EMBED = "RUSHLIGHT_EMBED"
FEATURES = "RUSHLIGHT_FEATURES"
LOG_LEVEL = "RUSHLIGHT_LOG_LEVEL"

Value = str | bool | Sequence[str] | Sequence[Path]


@dataclass(frozen=True)
class Word:
    """A word of an option: its name, its former spelling as a separate option (empty: none), its help, its
    default as text, and the generator's arguments for the states "on" and "off"."""

    word: str
    was: str
    help: str
    text: str
    arguments: Mapping[str, str]


@dataclass(frozen=True)
class Option:
    """One option; cmake/options.json documents the fields. `choices` maps the flag's words to CMake's values;
    `values` are the choices of an option of kind choice."""

    name: str
    kind: str
    group: str
    help: str
    default: str
    text: str
    flag: str
    field: str
    metavar: str | None
    choices: Mapping[str, str]
    values: tuple[str, ...]
    words: tuple[Word, ...]

    def cache_value(self, value: Value) -> str:
        """A flag's value in the form of CMake's cache entry."""
        if self.choices:
            return self.choices[str(value)]
        if isinstance(value, bool):
            return "ON" if value else "OFF"
        return value if isinstance(value, str) else ";".join(map(str, value))

    @property
    def flag_default(self) -> str:
        """The flag's word for CMake's default."""
        return next((word for word, meaning in self.choices.items() if meaning == self.default), self.default)


@cache
def options() -> tuple[Option, ...]:
    """All options, in the order of the table."""
    return tuple(_option(row) for row in _table()["options"])


@cache
def aliases() -> Mapping[str, str]:
    """Alternative spellings of options, mapped to the option."""
    return {row["name"]: row["of"] for row in _table()["aliases"]}


def option(field: str) -> Option:
    """The option whose Python name is `field`."""
    return next(o for o in options() if o.field == field)


def spellings() -> list[str]:
    """Each option with its words, in CMake's spelling."""
    return [" ".join([row.name, *(word.word for word in row.words)]) for row in options()]


def split_names(given: str | Iterable[str]) -> list[str]:
    """The names in one text or several, separated by commas, semicolons or spaces."""
    texts = [given] if isinstance(given, str) else given
    return [name for text in texts for name in re.split(r"[,;\s]+", text) if name]


def merged(entries: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """`entries` overridden by `given`. Words of an option are joined; former spellings count as words."""
    former = {word.was: (o.name, word.word) for o in options() for word in o.words if word.was}
    by_name = {o.name: o for o in options()}
    result = dict(entries)
    for name, value in given.items():
        if name in former and value:
            name, word = former[name]
            value = word if value.upper() in ("ON", "TRUE", "YES", "Y", "1") else f"no-{word}"
        if name in by_name and by_name[name].words:
            result[name] = ";".join([*split_names(result.get(name, "")), *split_names(value)])
        else:
            result[name] = value
    return result


def add_arguments(parser: argparse.ArgumentParser, *fields: str) -> None:
    """Adds flags of the code generator; names and paths may be given several times."""
    for row in map(option, fields):
        how: dict[str, Any] = {"help": row.help, "dest": row.field}
        if row.choices:
            how |= {"choices": list(row.choices), "default": row.flag_default}
        elif row.kind == "switch":
            how |= {"action": "store_true"}
        else:
            how |= {"action": "append", "default": [], "metavar": row.metavar or "PATH"}
        parser.add_argument(row.flag, **how)


def add_words(parser: argparse.ArgumentParser, *words: str) -> None:
    """Adds the generator's flags for words of options; each sets the word."""
    for word in (word for row in options() for word in row.words if word.word in words):
        for state, argument in word.arguments.items():
            action = "store_true" if state == "on" else "store_false"
            parser.add_argument(argument, action=action, dest=word.word.replace("-", "_"), help=word.help)


def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_json(options_file())
    return table


def _option(row: Mapping[str, Any]) -> Option:
    choices, flag = row.get("choices", {}), row.get("flag", "")
    words = tuple(
        Word(entry["word"], entry.get("was", ""), entry["help"], entry["text"], entry.get("argument", {}))
        for entry in row.get("words", ())
    )
    return Option(
        name=row["name"],
        kind=row["kind"],
        group=row["group"],
        help=row["help"],
        default=row.get("default", ""),
        text=row.get("text", ""),
        flag=flag,
        field=row.get("field", flag.lstrip("-").replace("-", "_")),
        metavar=row.get("metavar"),
        choices=choices if isinstance(choices, Mapping) else {},
        values=() if isinstance(choices, Mapping) else tuple(choices),
        words=words,
    )
