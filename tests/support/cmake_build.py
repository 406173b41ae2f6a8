# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `build`: builds of the C++ tree for tests that look at what a compiler made of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight.build import cmake
from rushlight.sources import source_root


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """build("-DOPTION=VALUE", ..., targets=[...]) configures, compiles and returns the build folder. It
    builds the installed sources, or the checkout `source`, for minimum size, and each configuration once. It
    builds as `rushlight build` does, so that ccache has most objects of one build for the others."""
    done: dict[tuple[object, ...], Path] = {}

    def run(*options: str, targets: list[str], source: Path | None = None) -> Path:
        key = (*options, *targets, source)
        if key not in done:
            folder = tmp_path_factory.mktemp("cmake")
            entries = dict(option.removeprefix("-D").split("=", 1) for option in options)
            toolchain = {name: entries.pop(name) for name in ("CMAKE_TOOLCHAIN_FILE",) if name in entries}
            cache = {"CMAKE_BUILD_TYPE": "MinSizeRel", **entries}
            cmake.configure(source or source_root(), folder, cache, toolchain)
            cmake.build(folder, targets)
            done[key] = folder
        return done[key]

    return run
