# SPDX-License-Identifier: BSD-3-Clause
"""The machines that rushlight builds for: by name, what each needs, and how to run on it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rushlight.errors import UnknownTarget
from rushlight.targets import bare_metal, host, linux, wasm, zig
from rushlight.targets.target import Requirement, RunResult, Target

__all__ = ["Requirement", "RunResult", "Target", "all_targets", "get", "install_commands"]


def all_targets() -> list[Target]:
    """Every target, the host first."""
    return [*host.TARGETS, *linux.TARGETS, *bare_metal.TARGETS, *wasm.TARGETS, *zig.TARGETS]


def get(name: str) -> Target:
    """The target of that name. Error: UnknownTarget."""
    for target in all_targets():
        if target.name == name:
            return target
    raise UnknownTarget(name, [target.name for target in all_targets()])


def install_commands(names: Iterable[str]) -> list[list[str]]:
    """The commands that install what the targets `names` lack here; none if nothing. Those that begin with
    apt-get are for root on Debian.

    Error: UnknownTarget.
    """
    missing = [requirement for name in names for requirement in get(name).requirements()]
    return package_commands(missing)


def package_commands(missing: Iterable[Requirement]) -> list[list[str]]:
    """The commands that install the packages of `missing`."""
    packages: dict[str, set[str]] = {"apt": set(), "pip": set()}
    for requirement in missing:
        packages[requirement.installer].add(requirement.package)
    commands = []
    if packages["apt"]:
        install = ["apt-get", "install", "-y", "--no-install-recommends", *sorted(packages["apt"])]
        commands += [["apt-get", "update"], install]
    if packages["pip"]:
        commands.append([sys.executable, "-m", "pip", "install", *sorted(packages["pip"])])
    return commands
