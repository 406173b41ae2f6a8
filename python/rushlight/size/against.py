# SPDX-License-Identifier: BSD-3-Clause
"""Compares a report with a report of another build of the same model, such as ExecuTorch's own, in shared
categories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rushlight.size.breakdown import Entry
from rushlight.size.report import SizeReport

CATEGORIES = (
    "runtime", "kernels", "registration", "runner and extensions", "startup", "C library", "C++ library",
    "compiler library", "other",
)  # fmt: skip

# First match wins: rushlight's components, then libraries, then names in ExecuTorch's namespaces.
_COMPONENTS = (
    ("runtime", re.compile(r"runtime/(?!runner|platform)|baked program$")),
    ("runner and extensions", re.compile(r"runtime/(runner|platform)$")),
    ("kernels", re.compile(r"kernels/")),
    ("registration", re.compile(r"generated table$")),
    ("startup", re.compile(r"startup$")),
    ("C library", re.compile(r"C library|library lib(m|pthread|rdimon|semihost)\.a")),
    ("C++ library", re.compile(r"library lib(std|supc|c\+\+)")),
    ("compiler library", re.compile(r"compiler library")),
)
_FILES = (
    ("registration", re.compile(r"lib\w*ops_lib\w*\.a|RegisterCodegen|Register\w*Kernels|selected_op")),
    ("kernels", re.compile(r"lib(portable|optimized|quantized|cortex_m)\w*kernels?\w*\.a|kernels_util")),
    ("runtime", re.compile(r"libexecutorch(_core)?\.a")),
    ("runner and extensions", re.compile(r"lib(extension|executor_runner|arm_)\w*\.a|executor_runner")),
)
_NAMES = (
    ("registration", re.compile(r"RegisterCodegen|register_kernels|kernels_to_register|make_boxed")),
    ("kernels", re.compile(r"(torch::executor|executorch::\w+)::native::|at::native::")),
    ("runner and extensions", re.compile(r"executorch::extension::|torch::executor::util::|^main$")),
    ("runtime", re.compile(r"executorch::|torch::executor::|executorch_flatbuffer")),
    ("runtime", re.compile(r"flatbuffers::|c10::|et_pal_")),
    ("C++ library", re.compile(r"(?:^|[ *&])(?:std|__cxxabiv1|__gnu_cxx)::|operator (new|delete)")),
    ("C++ library", re.compile(r"^__cxa_|^_Unwind|^__gxx_personality")),
    ("compiler library", re.compile(r"^__aeabi_|^__(u?div|u?mod|mul|add|sub|float|fix|extend|trunc)\w*\d$")),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """The bytes of one category in both reports."""

    category: str
    flash: int
    ram: int
    other_flash: int
    other_ram: int


@dataclass(frozen=True)
class Comparison:
    """`rows` of all categories that are not empty; `other` names the other report, `unplaced` are the bytes
    of its flash that no symbol or map assigns."""

    other: str
    rows: list[Row]
    unplaced: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(report: SizeReport, other: SizeReport) -> Comparison:
    """Compares two reports by category."""
    ours, theirs = _by_category(report.entries), _by_category(other.entries)
    rows = [
        Row(name, *ours.get(name, (0, 0)), *theirs.get(name, (0, 0)))
        for name in CATEGORIES
        if name in ours or name in theirs
    ]
    return Comparison(other.executable, rows, theirs.get("other", (0, 0))[0])


def category(entry: Entry) -> str:
    """One of CATEGORIES, by the component, else by the library, else by the symbol's namespace."""
    for patterns, text in ((_COMPONENTS, entry.component), (_FILES, entry.file), (_NAMES, entry.symbol)):
        for name, pattern in patterns:
            if text and (pattern.match(text) if patterns is _COMPONENTS else pattern.search(text)):
                return name
    return "other"


def _by_category(entries: Iterable[Entry]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for entry in entries:
        name = category(entry)
        flash, ram = sums.get(name, (0, 0))
        sums[name] = (flash + entry.flash, ram + entry.ram)
    return sums
