# SPDX-License-Identifier: BSD-3-Clause
"""Targets as test parameters, each under its own marker, and builds of small CMake projects for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process, targets

Build = Callable[[targets.Target, Path, str], Path]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the argument `target` runs once for each target that programs run on, with its usual
    compiler, but the host and those that only zig builds for: test_wasm.py, test_zig.py."""
    if "target" not in metafunc.fixturenames:
        return
    metafunc.parametrize(
        "target",
        [
            pytest.param(target, id=target.name, marks=[getattr(pytest.mark, target.name.replace("-", "_"))])
            for target in targets.all_targets()
            if target.compiler in ("gcc", "clang") and not target.build_only
        ],
        scope="session",
    )


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Configures and builds a CMake project for a target, once, and gives the path of an executable."""
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
