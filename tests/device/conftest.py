# SPDX-License-Identifier: BSD-3-Clause
"""Targets as test parameters, each with its own marker, folders for builds of each target, and builds of
small CMake projects."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process, targets
from support.boards import ALIKE, marker, usual

Build = Callable[[targets.Target, Path, str], Path]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [marker(name), *([pytest.mark.exhaustive] if name in ALIKE else [])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test with the argument `target` once for each usual target."""
    if "target" not in metafunc.fixturenames:
        return
    params = [pytest.param(target, id=target.name, marks=_marks(target.name)) for target in usual()]
    metafunc.parametrize("target", params, scope="session")


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A build folder for each target, shared by all tests of a file: a later test reuses earlier builds."""
    return functools.cache(lambda name: tmp_path_factory.mktemp(name))


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Configures and builds a CMake project for a target, once, and returns the path of an executable."""
    built: dict[tuple[str, Path], Path] = {}

    def build_once(target: targets.Target, source: Path, executable: str) -> Path:
        if missing := target.requirements():
            pytest.skip(f"{target.name}: missing " + ", ".join(item.name for item in missing))
        key = (target.name, source)
        if key not in built:
            folder = tmp_path_factory.mktemp(f"{source.name}-{target.name}")
            toolchain = [f"-D{name}={value}" for name, value in target.toolchain.items()]
            configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", *toolchain]
            process.run(configure, check=True, timeout=120)
            process.run(["cmake", "--build", folder], check=True, timeout=300)
            built[key] = folder
        return built[key] / executable

    return build_once
