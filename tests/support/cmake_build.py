# SPDX-License-Identifier: BSD-3-Clause
"""The fixture `build`: builds of the C++ tree for tests that look at what a compiler made of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from rushlight.sources import source_root


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """build("-DOPTION=VALUE", ..., targets=[...]) configures, compiles and returns the build folder. It
    builds the installed sources, or the checkout `source`, for minimum size, and each configuration once."""
    done: dict[tuple[object, ...], Path] = {}

    def run(*options: str, targets: list[str], source: Path | None = None) -> Path:
        key = (*options, *targets, source)
        if key not in done:
            folder = tmp_path_factory.mktemp("cmake")
            configure = ["cmake", "-S", source or source_root(), "-B", folder, "-G", "Ninja"]
            process.run([*configure, "-DCMAKE_BUILD_TYPE=MinSizeRel", *options], check=True)
            process.run(["cmake", "--build", folder, "--target", *targets], check=True, timeout=1800)
            done[key] = folder
        return done[key]

    return run
