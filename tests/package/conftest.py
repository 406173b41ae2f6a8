# SPDX-License-Identifier: BSD-3-Clause
"""A wheel of this checkout, and environments that hold it."""

from __future__ import annotations

import contextlib
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.cmake_projects import folder_near_sources
from support.environments import DIGITS, ROOT, Environment, build_wheel, make_environment


@pytest.fixture(scope="session")
def build_folder() -> Iterator[Callable[[str], Path]]:
    """build_folder(NAME) creates an empty folder in which builds of the checkout share objects."""
    with contextlib.ExitStack() as folders:
        yield lambda name: folders.enter_context(folder_near_sources(name))


@pytest.fixture(scope="session")
def digits_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel whose runtime has the operators of examples/digits only; the path is relative to the
    checkout, as a user would give it."""
    model = str((DIGITS / "digits.pte").relative_to(ROOT))
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"), EXECUTORCH_SELECT_OPS_MODEL=model)


@pytest.fixture(scope="session")
def core(digits_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel with what it depends on, and nothing else."""
    environment = make_environment(tmp_path_factory.mktemp("core"))
    environment.install(digits_wheel)
    return environment


@pytest.fixture(scope="session")
def with_build_tools(digits_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel, and from the tests' own environment the packages of the extra `build`."""
    environment = make_environment(tmp_path_factory.mktemp("tools"))
    environment.install("--no-deps", digits_wheel)
    # A folder that a .pth file names comes after the environment's own packages, and hooks of editable
    # installs in it do not run: rushlight is the wheel's.
    (environment.packages / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment
