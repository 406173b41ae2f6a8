# SPDX-License-Identifier: BSD-3-Clause
"""Reads untrusted YAML and JSON. Nesting is bounded, and the values that YAML's aliases expand to are counted
before any value is built: a page of nested aliases can expand to billions of values."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rushlight.errors import InvalidArgument, MissingDependency, RushlightError

MAX_DEPTH = 100
"""Most levels of lists and mappings. The C parser of PyYAML allows 1,000; before 6.0.4 it recursed until the
stack overflowed."""

MAX_VALUES = 1_000_000
"""Most values of a YAML file, counting the values of an alias each time it is used."""


def read_yaml(
    path: str | os.PathLike[str],
    *,
    what: str = "",
    error: type[RushlightError] = InvalidArgument,
    extra: str = "build",
) -> Any:
    """The content of a YAML file. Messages have `what` before the path; `extra` is the extra with PyYAML.

    Errors: MissingDependency; `error` for a file that cannot be read, is not YAML, or exceeds a limit.
    """
    shown = f"{what} {path}".strip()
    return parse_yaml(_read(path, shown, error), what=shown, error=error, extra=extra)


def parse_yaml(
    data: str | bytes, *, what: str, error: type[RushlightError] = InvalidArgument, extra: str = "build"
) -> Any:
    """The value of a YAML text. Messages call it `what`; `extra` is the extra with PyYAML.

    Errors: MissingDependency; `error` for a text that is not YAML or exceeds a limit.
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
    """Counts values from the parser's events, without building any. `values` has the count of each open
    collection; the size of an anchor is known when its collection ends."""
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
            size = sizes.get(event.anchor, 1)  # the loader refuses an unknown anchor
        values[-1] += size
        if values[-1] > MAX_VALUES:
            where = f"{shown}: line {event.start_mark.line + 1}"
            raise error(
                f"{where}: expected at most {MAX_VALUES:,} values including aliases, got more",
                next_step="Write the values out, without aliases of aliases.",
            )


def read_json(
    path: str | os.PathLike[str], *, what: str = "", error: type[RushlightError] = InvalidArgument
) -> Any:
    """The content of a JSON file. Messages have `what` in front of the path.

    Error: `error` for a file that cannot be read, is not JSON, or is nested too deeply."""
    shown = f"{what} {path}".strip()
    return parse_json(_read(path, shown, error), what=shown, error=error)


def parse_json(data: str | bytes, *, what: str, error: type[RushlightError] = InvalidArgument) -> Any:
    """The value of a JSON text. Messages call it `what`. Error: `error`."""
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
