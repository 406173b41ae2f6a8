# SPDX-License-Identifier: BSD-3-Clause
"""The machines that rushlight builds for: by name, what each needs, and how to run on it."""

from __future__ import annotations

from collections.abc import Iterable

from rushlight.errors import UnknownTarget
from rushlight.targets import bare_metal, host, linux
from rushlight.targets.target import CRASH_STATUS, Requirement, RunResult, Target

__all__ = ["CRASH_STATUS", "Requirement", "RunResult", "Target", "all_targets", "get", "install_commands"]


def all_targets() -> list[Target]:
    """Every target, the host first."""
    return [*host.TARGETS, *linux.TARGETS, *bare_metal.TARGETS]


def get(name: str) -> Target:
    """The target of that name. Error: UnknownTarget."""
    for target in all_targets():
        if target.name == name:
            return target
    raise UnknownTarget(name, [target.name for target in all_targets()])


def install_commands(names: Iterable[str]) -> list[list[str]]:
    """The commands, for root on Debian, that install what the targets `names` lack here; none if nothing.

    Error: UnknownTarget.
    """
    packages = sorted({missing.package for name in names for missing in get(name).requirements()})
    if not packages:
        return []
    return [["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]]
