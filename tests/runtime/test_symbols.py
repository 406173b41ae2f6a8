# SPDX-License-Identifier: BSD-3-Clause
"""What runs on a device takes no memory of its own, throws nothing and runs nothing before main."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process

LIBRARIES = ["rushlight_runtime", "executorch_kernels"]
OPTIONS = ["-DEXECUTORCH_SELECT_ALL_OPS=ON", "-DRUSHLIGHT_BUILD_RUNNER=OFF"]

FORBIDDEN = re.compile(
    r"""_Zn[wa] | _Zd[la]                                     # operator new and delete
    | (malloc | calloc | realloc | reallocarray | free | aligned_alloc | posix_memalign | strdup | alloca)$
    | __cxa_ | __gxx_personality | _Unwind_                   # exceptions, guards, atexit
    | _ZTI | _ZTS | __dynamic_cast                            # run-time type information
    | _ZNSt | _ZNKSt | _ZSt                                   # parts of the standard library that link
    | (fopen | fread | fwrite | puts | putchar | printf | abort | exit | __assert_fail)$""",
    re.VERBOSE,
)
CONSTRUCTORS = re.compile(r"\.(init_array|fini_array|ctors|dtors|preinit_array)")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=LIBRARIES)
def library(build: Callable[..., Path], request: pytest.FixtureRequest) -> Path:
    """A static library with every operator, optimised for size."""
    return build(*OPTIONS, targets=LIBRARIES) / f"lib{request.param}.a"


def test_nothing_forbidden_is_called(library: Path) -> None:
    symbols = process.run(["nm", "--undefined-only", "--format=posix", library], check=True).stdout
    names = {line.split()[0] for line in symbols.splitlines() if line.endswith(" U ") or " U" in line}
    assert len(names) > 10
    # vsnprintf formats log lines; a build without logs does not have it.
    assert sorted(name for name in names if FORBIDDEN.match(name)) == []


def test_nothing_runs_before_main(library: Path) -> None:
    headers = process.run(["objdump", "--section-headers", library], check=True).stdout
    assert ".text" in headers
    assert CONSTRUCTORS.findall(headers) == []


def test_nothing_can_be_changed_while_it_runs(library: Path) -> None:
    symbols = process.run(["nm", "--defined-only", "--format=posix", library], check=True).stdout
    # d and b: data and bss; constants with addresses in them lie in .data.rel.ro, which is written once.
    sections = process.run(["objdump", "--syms", library], check=True).stdout
    assert " T " in symbols
    writable = [
        line for line in sections.splitlines() if re.search(r" O \.(data|bss)(\.(?!rel\.ro)|\t)", line)
    ]
    # All but the records of runtime/base/failure.cpp and the seed of runtime/kernel/random.cpp.
    known = re.compile(r"_GLOBAL__N_1(7records|8recorded|12process_seed|7streams)E")
    assert [line for line in writable if not known.search(line)] == []


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
