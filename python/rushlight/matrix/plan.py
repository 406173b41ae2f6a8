# SPDX-License-Identifier: BSD-3-Clause
"""Reads matrix files: models × targets × options, with exclusions and additions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rushlight import targets
from rushlight.codegen.table import load_yaml
from rushlight.errors import InvalidArgument
from rushlight.run.cases import Tolerance
from rushlight.run.runner import DEFAULT_TIMEOUT

KINDS = ("interpreter", "baked")
"""Kinds of builds of a model."""

PLAIN = "default"
"""The option of a matrix file without options."""


@dataclass(frozen=True)
class Model:
    """A program or bundled program and its case. Without a case a bundled program uses its own expected
    outputs; any other runs on ones, without comparison. `tolerance` overrides the case's."""

    name: str
    program: Path
    case: Path | None = None
    data: tuple[Path, ...] = ()
    tolerance: Tolerance | None = None

    def files(self) -> list[Path]:
        """All files needed to run it; a case.json has its tensors beside it."""
        beside = [self.case, self.case.with_name("tensors.npz")] if self.case else []
        return [self.program, *beside, *self.data]


@dataclass(frozen=True)
class Option:
    """The build options of a model: `kind` is one of KINDS, `dtypes` "model" or "all", `defines` are CMake
    definitions. With `integers` its program is converted first, so that its quantized parts compute in
    integers."""

    name: str = PLAIN
    kind: str = KINDS[0]
    dtypes: str = "model"
    defines: tuple[tuple[str, str], ...] = ()
    integers: bool = True


@dataclass(frozen=True)
class Cell:
    """One build and run. `timeout` in seconds limits the run."""

    model: Model
    target: str
    option: Option
    timeout: float = DEFAULT_TIMEOUT

    @property
    def name(self) -> str:
        """Unique in a plan."""
        return f"{self.model.name}/{self.target}/{self.option.name}"


def read_plan(path: Path) -> list[Cell]:
    """The cells of a matrix file, in file order; paths in it are relative to its folder.

    Errors: InvalidArgument with the invalid entry; UnknownTarget.
    """
    if not path.is_file():
        raise InvalidArgument(f"matrix {path}: no such file", next_step="Check the path.")
    content = load_yaml(path)
    return _Reader(f"matrix {path}", path.resolve().parent).cells(content)


class _Reader:
    def __init__(self, what: str, folder: Path) -> None:
        self._what = what
        self._folder = folder

    def cells(self, content: Any) -> list[Cell]:
        described = self._mapping(
            content, "the file", {"models", "targets", "options", "include", "exclude", "timeout"}
        )
        models = {name: self._model(name, item) for name, item in self._named(described, "models")}
        options = {name: self._option(name, item) for name, item in self._named(described, "options")}
        options = options or {PLAIN: Option()}
        names = self._texts(described.get("targets", []), "targets")
        timeout = described.get("timeout", DEFAULT_TIMEOUT)
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise self._error(f"timeout: expected seconds, got {timeout!r}")
        wanted = {(model, target, option): None for model in models for target in names for option in options}
        for entry in self._entries(described, "exclude"):
            wanted = self._without(wanted, entry)
        for entry in self._entries(described, "include"):
            wanted.update(dict.fromkeys(self._extra(entry, models, options)))
        if not wanted:
            raise self._error("expected models and targets, or include, got no cells")
        for target in {target for _, target, _ in wanted}:
            targets.get(target)
        return [Cell(models[m], target, options[o], float(timeout)) for m, target, o in wanted]

    def _model(self, name: str, item: Any) -> Model:
        if isinstance(item, str):
            item = {"program": item}
        described = self._mapping(item, f"models: {name}", {"program", "case", "data", "rtol", "atol"})
        if not isinstance(described.get("program"), str):
            raise self._error(f"models: {name}: expected a program, as in {name}: model.pte, got none")
        program = self._file(described["program"], f"models: {name}")
        case = described.get("case")
        if case is None:
            beside = program.with_name("case.json")
            found = beside if beside.is_file() and program.suffix == ".pte" else None
        else:
            found = self._file(case, f"models: {name}: case")
        data = self._texts(described.get("data", []), f"models: {name}: data")
        files = tuple(self._file(d, f"models: {name}: data") for d in data)
        return Model(name, program, found, files, self._tolerance(described, f"models: {name}"))

    def _tolerance(self, described: Mapping[str, Any], what: str) -> Tolerance | None:
        parts = {}
        for key in ("rtol", "atol"):
            value = parts[key] = described.get(key)
            if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
                raise self._error(f"{what}: {key}: expected a number, got {value!r}")
        if parts["rtol"] is None and parts["atol"] is None:
            return None
        try:
            return Tolerance.given(parts["rtol"], parts["atol"])
        except InvalidArgument as error:
            raise self._error(f"{what}: {error.message}") from None

    def _option(self, name: str, item: Any) -> Option:
        described = self._mapping(item or {}, f"options: {name}", {"kind", "dtypes", "defines", "integers"})
        kind, dtypes = described.get("kind", KINDS[0]), described.get("dtypes", "model")
        self._one_of(kind, KINDS, f"options: {name}: kind")
        self._one_of(dtypes, ("model", "all"), f"options: {name}: dtypes")
        defines = described.get("defines") or {}
        if not isinstance(defines, Mapping):
            raise self._error(
                f"options: {name}: defines: expected a mapping of names to values, got {defines!r}"
            )
        integers = described.get("integers", True)
        if not isinstance(integers, bool):
            raise self._error(f"options: {name}: integers: expected true or false, got {integers!r}")
        listed = tuple((str(k), _cmake_value(v)) for k, v in defines.items())
        return Option(name, kind, dtypes, listed, integers)

    def _without(
        self, wanted: Mapping[tuple[str, str, str], None], entry: Any
    ) -> dict[tuple[str, str, str], None]:
        described = self._mapping(entry, "exclude", {"model", "target", "option"})
        patterns = [
            self._texts(described.get(key, "*"), f"exclude: {key}") for key in ("model", "target", "option")
        ]
        kept = {
            cell: None
            for cell in wanted
            if not all(
                any(fnmatchcase(part, pattern) for pattern in listed)
                for part, listed in zip(cell, patterns, strict=True)
            )
        }
        if len(kept) == len(wanted):
            raise self._error(f"exclude: expected an entry that matches a cell, got {dict(described)}")
        return kept

    def _extra(
        self, entry: Any, models: Mapping[str, Model], options: Mapping[str, Option]
    ) -> Iterable[tuple[str, str, str]]:
        described = self._mapping(entry, "include", {"model", "target", "option"})
        listed = {key: self._texts(described.get(key, []), f"include: {key}") for key in ("model", "target")}
        listed["option"] = self._texts(described.get("option", list(options)), "include: option")
        if not (listed["model"] and listed["target"]):
            raise self._error(f"include: expected a model and a target, got {dict(described)}")
        for model in listed["model"]:
            self._one_of(model, tuple(models), "include: model")
        for option in listed["option"]:
            self._one_of(option, tuple(options), "include: option")
        return [(m, t, o) for m in listed["model"] for t in listed["target"] for o in listed["option"]]

    def _named(self, described: Mapping[str, Any], key: str) -> Iterable[tuple[str, Any]]:
        listed = described.get(key) or {}
        if not isinstance(listed, Mapping):
            raise self._error(f"{key}: expected a mapping by name, got {type(listed).__name__}")
        for name in listed:
            # The names become folder names of builds.
            if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
                raise self._error(f"{key}: expected a name of letters, digits, and _ . + -, got {name!r}")
        return listed.items()

    def _entries(self, described: Mapping[str, Any], key: str) -> Sequence[Any]:
        listed = described.get(key) or []
        if not isinstance(listed, list):
            raise self._error(f"{key}: expected a list, got {listed!r:.60}")
        return listed

    def _mapping(self, item: Any, what: str, keys: set[str]) -> Mapping[str, Any]:
        if not isinstance(item, Mapping):
            raise self._error(f"{what}: expected keys {', '.join(sorted(keys))}, got {item!r}")
        for key in item:
            if key not in keys:
                raise self._error(f"{what}: expected keys {', '.join(sorted(keys))}, got '{key}'")
        return item

    def _texts(self, item: Any, what: str) -> list[str]:
        listed = [item] if isinstance(item, str) else item
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise self._error(f"{what}: expected a text or a list of texts, got {item!r}")
        return listed

    def _one_of(self, value: Any, known: Sequence[str], what: str) -> None:
        if value not in known:
            raise self._error(f"{what}: expected one of {', '.join(known)}, got {value!r}")

    def _file(self, name: Any, what: str) -> Path:
        path = (self._folder / str(name)).resolve()
        if not path.is_file():
            raise self._error(f"{what}: {path}: no such file")
        return path

    def _error(self, message: str) -> InvalidArgument:
        return InvalidArgument(f"{self._what}: {message}", next_step="docs/matrix.md explains the file.")


def _cmake_value(value: Any) -> str:
    """Restores ON and OFF, which YAML reads as booleans."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return ";".join(map(str, value)) if isinstance(value, list) else str(value)
