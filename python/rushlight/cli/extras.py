# SPDX-License-Identifier: BSD-3-Clause
"""The Python packages that rushlight and its extras require, from the installed package's metadata, compared
with what is installed. Reads metadata alone: nothing is imported."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import zip_longest

_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[([\w,\s-]*)\])?\s*\(?([^;()]*)\)?\s*(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([\w.+]+)")
_HOLDS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Requirement:
    """A distribution with the range of its versions, such as ">=2.13,<2.16"; "" allows all. `extra` lists it;
    "" is the package itself."""

    name: str
    versions: str
    extra: str = ""

    def __str__(self) -> str:
        return self.name + self.versions

    def installed(self) -> str | None:
        """The installed version, or None."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def allows(self, version: str) -> bool:
        """True if the version is in the range."""
        return all(_HOLDS[sign](*_aligned(version, bound)) for sign, bound in _BOUND.findall(self.versions))


def extras(package: str = "rushlight") -> list[str]:
    """Names of the package's extras. Error: PackageNotFoundError."""
    return metadata.metadata(package).get_all("Provides-Extra") or []


def python_versions(package: str = "rushlight") -> Requirement:
    """The range of Python versions. Error: PackageNotFoundError."""
    return Requirement("Python", metadata.metadata(package)["Requires-Python"] or "")


def requirements(extra: str = "", package: str = "rushlight") -> Iterator[Requirement]:
    """The requirements of an extra and of the extras that it includes; without an extra, the package's.

    Error: PackageNotFoundError.
    """
    for text in metadata.requires(package) or []:
        found = _REQUIREMENT.match(text)
        if found is None:
            continue
        name, inner, versions, marker = found.groups()
        of_extra = _EXTRA.search(marker or "")
        if (of_extra[1] if of_extra else "") != extra:
            continue
        if name == package:
            for each in (inner or "").split(","):
                yield from requirements(each.strip(), package)
        else:
            yield Requirement(name, versions.strip(), extra)


def _aligned(left: str, right: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The release numbers of two versions, filled up with zeros to one length. Suffixes do not count."""
    pairs = list(zip_longest(_release(left), _release(right), fillvalue=0))
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def _release(version: str) -> list[int]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return [int(part) for part in found[0].split(".")] if found else []
