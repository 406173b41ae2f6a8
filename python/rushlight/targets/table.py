# SPDX-License-Identifier: BSD-3-Clause
"""The table of targets, toolchains/targets.json, which CMake reads, too. toolchains/README.md describes its
fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rushlight.documents import read_json
from rushlight.errors import RushlightError
from rushlight.sources import source_root

COMPILERS = ("gcc", "clang", "zig")
_KINDS = ("linux", "bare-metal", "wasi")
_TEXTS = ("kind", "description", "processor", "code")
_OPTIONAL_TEXTS = ("notes", "core", "board")
_COMPILER_TEXTS = ("flags", "libraries")


@dataclass(frozen=True)
class Row:
    """One target. `triples` maps compilers to triples, the usual compiler first; `emulator` is the command
    for Linux processors, `board` a folder of boards/ beside the table."""

    name: str
    kind: str
    description: str
    core: str
    code: str
    board: str | None
    emulator: tuple[str, ...]
    processor: str
    triples: Mapping[str, str]

    @property
    def pointer_bytes(self) -> int:
        """The size of a pointer in bytes, from `code`."""
        return int(self.code.split()[2]) // 8


@dataclass(frozen=True)
class Table:
    """All rows by name, in order; Debian's `packages` by program or file; clang's programs."""

    folder: Path
    rows: Mapping[str, Row]
    packages: Mapping[str, str]
    clang: Mapping[str, str]

    def package(self, item: str) -> str:
        """The Debian package of a program or file. Error: RushlightError if the table lacks it."""
        if item not in self.packages:
            raise _damaged(f"{self.folder / 'targets.json'}: packages: expected a row for {item}, got none")
        return self.packages[item]


@cache
def table() -> Table:
    """The table in the source tree. Error: RushlightError if it is damaged."""
    return read_table(source_root() / "toolchains" / "targets.json")


def read_table(path: Path) -> Table:
    """Reads a table from a file; its folder must also contain boards/ and target.cmake.

    Error: RushlightError with the row and the field.
    """
    try:
        content = read_json(path, error=RushlightError)
        fields = _mapping(content, "", required=("clang", "packages", "targets"))
        rows = {name: _row(name, row) for name, row in _mapping(fields["targets"], "targets").items()}
        clang = _texts(fields["clang"], "clang", required=("c", "cxx", "linker"))
        return Table(path.parent, rows, _texts(fields["packages"], "packages"), clang)
    except RushlightError as problem:
        raise _damaged(problem.message) from None
    except ValueError as problem:
        raise _damaged(f"{path}: {problem}") from None


def _damaged(message: str) -> RushlightError:
    return RushlightError(message, next_step="Correct the table, or install rushlight again.")


def _row(name: str, content: Any) -> Row:
    fields = _mapping(content, name, required=(*_TEXTS, "compilers"), optional=(*_OPTIONAL_TEXTS, "emulator"))
    texts = {field: fields[field] for field in fields if field not in ("compilers", "emulator")}
    texts = _texts(texts, name)
    kind, code, emulator = texts["kind"], texts["code"], fields.get("emulator", [])
    if kind not in _KINDS:
        raise ValueError(f"{name}: kind: expected one of {', '.join(_KINDS)}, got {kind!r}")
    words = code.split()
    if len(words) != 4 or words[2] not in ("32", "64"):
        raise ValueError(
            f"{name}: code: expected architecture, float ABI, 32 or 64, endianness, got {code!r}"
        )
    if not isinstance(emulator, list) or not all(isinstance(word, str) for word in emulator):
        raise ValueError(f"{name}: emulator: expected a list of texts, got {emulator!r}")
    if (kind == "linux") != bool(emulator) or (kind == "bare-metal") != ("board" in texts):
        raise ValueError(f"{name}: expected an emulator for linux alone and a board for bare-metal alone")
    return Row(
        name=name,
        kind=kind,
        description=texts["description"],
        core=texts.get("core", name),
        code=code,
        board=texts.get("board"),
        emulator=tuple(emulator),
        processor=texts["processor"],
        triples=_triples(name, fields["compilers"]),
    )


def _triples(name: str, content: Any) -> dict[str, str]:
    if not isinstance(content, list) or not content:
        raise ValueError(f"{name}: compilers: expected a list with one at least, got {content!r}")
    triples: dict[str, str] = {}
    for entry in content:
        where = f"{name}: compilers"
        texts = _texts(entry, where, required=("name", "triple"), optional=_COMPILER_TEXTS)
        if texts["name"] not in COMPILERS or texts["name"] in triples:
            raise ValueError(f"{where}: expected each of {', '.join(COMPILERS)} once, got {texts['name']!r}")
        triples[texts["name"]] = texts["triple"]
    return triples


def _texts(
    content: Any, where: str, required: tuple[str, ...] = (), optional: tuple[str, ...] | None = None
) -> dict[str, str]:
    fields = _mapping(content, where, required, optional)
    for field, value in fields.items():
        if not isinstance(value, str) or not value:
            raise ValueError(f"{where}: {field}: expected a text, got {value!r}")
    return fields


def _mapping(
    content: Any, where: str, required: tuple[str, ...] = (), optional: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """A JSON object with the `required` fields, and with no fields except these and `optional` if `optional`
    is given."""
    where = where or "the table"
    if not isinstance(content, dict):
        raise ValueError(f"{where}: expected an object, got {content!r:.60}")
    for field in required:
        if field not in content:
            raise ValueError(f"{where}: expected the field {field}, got {', '.join(content) or 'none'}")
    for field in content:
        if optional is not None and field not in (*required, *optional):
            raise ValueError(
                f"{where}: expected one of the fields {', '.join(required + optional)}, got {field}"
            )
    return content
