# SPDX-License-Identifier: BSD-3-Clause
"""The runtime neither uses the heap nor holds writable data, throws nothing and runs nothing before main.
tests/kernels/test_library.py checks the same for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from support.symbols import FORBIDDEN, constructors, forbidden_calls, writable_objects

OPTIONS = ["-DEXECUTORCH_SELECT_ALL_OPS=OFF", "-DRUSHLIGHT_BUILD=no-runner"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(build: Callable[..., Path]) -> Path:
    """The static library, optimised for size."""
    return build(*OPTIONS, targets=["rushlight_runtime"]) / "librushlight_runtime.a"


def test_nothing_forbidden_is_called(library: Path) -> None:
    assert forbidden_calls(library) == []


def test_nothing_runs_before_main(library: Path) -> None:
    assert constructors(library) == []


def test_nothing_can_be_changed_while_it_runs(library: Path) -> None:
    assert writable_objects(library) == []


def test_what_is_looked_for_would_be_seen(tmp_path: Path) -> None:
    source = tmp_path / "host.cpp"
    source.write_text(
        "struct Late { Late(); };\nint counted = 1;\nstatic Late made;\nint get() { return counted; }\n"
    )
    library = tmp_path / "host.o"
    process.run(["c++", "-c", source, "-o", library], check=True)
    assert constructors(library)
    assert any("counted" in line for line in writable_objects(library))


@pytest.mark.parametrize(
    ("name", "forbidden"),
    [
        ("_Znwm", True),
        ("_ZdlPvm", True),
        ("malloc", True),
        ("free", True),
        ("__cxa_guard_acquire", True),
        ("__cxa_throw", True),
        ("_ZTIN9rushlight10DataLoaderE", True),
        ("memcpy", False),
        ("expf", False),
        ("vsnprintf", False),
        ("_ZN9rushlight5Arena8allocateEmm", False),
    ],
)
def test_the_pattern_knows_what_is_forbidden(name: str, forbidden: bool) -> None:
    assert bool(FORBIDDEN.match(name)) is forbidden
