# SPDX-License-Identifier: BSD-3-Clause
"""YAML and JSON that anybody may have written. Nesting is bounded. What YAML's aliases stand for is counted
before anything is made of it: a page of nested aliases stands for billions of values."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rushlight.errors import InvalidArgument, MissingDependency, RushlightError

MAX_DEPTH = 100
"""Lists and mappings inside one another. The C parser of PyYAML allows 1,000; before 6.0.4 it recursed until
the stack ended."""

MAX_VALUES = 1_000_000
"""Values of a YAML file, with those that an alias stands for counted at each place."""


def read_yaml(
    path: str | os.PathLike[str],
    *,
    what: str = "",
    error: type[RushlightError] = InvalidArgument,
    extra: str = "build",
) -> Any:
    """The content of a YAML file. `what` is said of it before its path, `extra` brings PyYAML.

    Errors: MissingDependency; `error` for a file that cannot be read, is no YAML, or stands for too much.
    """
    shown = f"{what} {path}".strip()
    return parse_yaml(_read(path, shown, error), what=shown, error=error, extra=extra)


def parse_yaml(
    data: str | bytes, *, what: str, error: type[RushlightError] = InvalidArgument, extra: str = "build"
) -> Any:
    """The value of a YAML text, which errors call `what`; `extra` brings PyYAML.

    Errors: MissingDependency; `error` for what is no YAML or stands for too much.
    """
    try:
        import yaml
    except ImportError as missing:
        raise MissingDependency("pyyaml", extra) from missing
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check(yaml.parse(data, Loader=loader), what, error)
        return yaml.load(data, Loader=loader)
    except (yaml.YAMLError, ValueError, OverflowError) as problem:
        raise error(f"{what}: expected YAML: {problem}") from problem


def _check(events: Any, shown: str, error: type[RushlightError]) -> None:
    """Goes through the parser's events without building anything. `values` has the number of values in each
    collection that is open; that of an anchor is known when its collection is complete."""
    values, names = [0], [""]
    sizes: dict[str, int] = {}
    for event in events:
        kind = type(event).__name__
        size = 0
        if kind in ("SequenceStartEvent", "MappingStartEvent"):
            values.append(1)
            names.append(event.anchor or "")
            if len(values) > MAX_DEPTH:
                line = event.start_mark.line + 1
                raise error(f"{shown}: line {line}: expected at most {MAX_DEPTH} levels of nesting, got more")
            if event.anchor:
                sizes.pop(event.anchor, None)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            size, anchor = values.pop(), names.pop()
            if anchor:
                sizes[anchor] = size
        elif kind == "ScalarEvent":
            size = 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif kind == "AliasEvent":
            if event.anchor in names:
                line = event.start_mark.line + 1
                raise error(f"{shown}: line {line}: expected no value inside itself, got *{event.anchor}")
            size = sizes.get(event.anchor, 1)  # one that is not known is the loader's to refuse
        values[-1] += size
        if values[-1] > MAX_VALUES:
            where = f"{shown}: line {event.start_mark.line + 1}"
            raise error(
                f"{where}: expected at most {MAX_VALUES:,} values, those of aliases counted, got more",
                next_step="Write out what is meant, without aliases of aliases.",
            )


def read_json(
    path: str | os.PathLike[str], *, what: str = "", error: type[RushlightError] = InvalidArgument
) -> Any:
    """The content of a JSON file; `what` is said of it before its path. Error: `error` for a file that cannot
    be read, is no JSON, or is nested too deeply."""
    shown = f"{what} {path}".strip()
    return parse_json(_read(path, shown, error), what=shown, error=error)


def parse_json(data: str | bytes, *, what: str, error: type[RushlightError] = InvalidArgument) -> Any:
    """The value of a JSON text, which errors call `what`."""
    try:
        return json.loads(data)
    except ValueError as problem:
        raise error(f"{what}: expected JSON: {problem}") from problem
    except RecursionError:
        raise error(f"{what}: expected JSON, got lists and objects nested too deeply to read") from None


def _read(path: str | os.PathLike[str], shown: str, error: type[RushlightError]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise error(f"{shown}: {problem.strerror}") from problem
