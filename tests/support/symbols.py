# SPDX-License-Identifier: BSD-3-Clause
"""Symbols that a static library calls and defines, from the compiler's nm and objdump."""

from __future__ import annotations

import re
from pathlib import Path

from rushlight import process

FORBIDDEN = re.compile(
    r"""_Zn[wa] | _Zd[la]                                     # operator new and delete
    | (malloc | calloc | realloc | reallocarray | free | aligned_alloc | posix_memalign | strdup | alloca)$
    | __cxa_ | __gxx_personality | _Unwind_                   # exceptions, guards, atexit
    | _ZTI | _ZTS | __dynamic_cast                            # run-time type information
    | _ZNSt | _ZNKSt | _ZSt                                   # parts of the standard library that link
    | (fopen | fread | fwrite | puts | putchar | printf | abort | exit | __assert_fail)$""",
    re.VERBOSE,
)
_CONSTRUCTORS = re.compile(r"\.(init_array|fini_array|ctors|dtors|preinit_array)")
# Data and bss; constants that hold addresses are in .data.rel.ro, which is written once at start.
_WRITABLE = re.compile(r" O \.(data|bss)(\.(?!rel\.ro)|\t)")
# The records of runtime/base/failure.cpp and the seed of runtime/kernel/random.cpp.
_KNOWN_WRITABLE = re.compile(r"_GLOBAL__N_1(7records|8recorded|12process_seed|7streams)E")


def forbidden_calls(library: Path, tools: str = "") -> list[str]:
    """The calls of the heap, of exceptions and of the standard library; `tools` is the prefix of the target's
    binutils."""
    symbols = process.run([f"{tools}nm", "--undefined-only", "--format=posix", library], check=True).stdout
    names = {line.split()[0] for line in symbols.splitlines() if line.endswith(" U ") or " U" in line}
    assert len(names) > 10
    # vsnprintf formats log lines; a build without logs does not have it.
    return sorted(name for name in names if FORBIDDEN.match(name))


def constructors(library: Path, tools: str = "") -> list[str]:
    """Sections of functions that run before main or after it."""
    headers = process.run([f"{tools}objdump", "--section-headers", library], check=True).stdout
    assert ".text" in headers
    return _CONSTRUCTORS.findall(headers)


def writable_objects(library: Path, tools: str = "") -> list[str]:
    """Writable objects, except the known ones."""
    symbols = process.run([f"{tools}objdump", "--syms", library], check=True).stdout
    assert " F .text" in symbols
    writable = [line for line in symbols.splitlines() if _WRITABLE.search(line)]
    return [line for line in writable if not _KNOWN_WRITABLE.search(line)]
