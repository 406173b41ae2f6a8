# SPDX-License-Identifier: BSD-3-Clause
"""Invented size reports for tests."""

from __future__ import annotations

from dataclasses import replace

from rushlight.size.arenas import MethodArenas
from rushlight.size.breakdown import Entry
from rushlight.size.report import SizeReport
from rushlight.size.stack import StackBound, Step

_RELU, _FILE = "aten::relu.out", "kernels/operators/activation/op_relu.cpp"
_EXECUTOR = "runtime/executor"
ENTRIES = (
    Entry("rushlight::Method::execute()", f"{_EXECUTOR}/method.cpp", _EXECUTOR, ".text", 500, 0),
    Entry("rushlight::Method::load()", f"{_EXECUTOR}/method_load.cpp", _EXECUTOR, ".text", 300, 0),
    Entry("relu_out", _FILE, "kernels/operators/activation", ".text", 100, 0, _RELU),
    Entry("row<float>", _FILE, "kernels/operators/activation", ".text", 60, 0, _RELU, "float32"),
    Entry("recorded", "runtime/base/failure.cpp", "runtime/base", ".bss", 0, 24),
    Entry("errno", "libc.a(errno.o)", "C library (libc.a)", ".data", 4, 4),
)


def a_report(*more: Entry) -> SizeReport:
    """A report of 964 bytes of flash and the entries in `more`."""
    entries = (*ENTRIES, *more)
    path = (Step("main", 300, "compiler"), Step("rushlight::Method::execute", 120, "compiler"))
    return SizeReport(
        target="cortex-m4",
        models=("model.pte",),
        executable="executor_runner.elf",
        flash=sum(entry.flash for entry in entries),
        ram=sum(entry.ram for entry in entries),
        model=2000,
        weights=1500,
        sections=((".text", 960, "flash"), (".data", 4, "flash+ram"), (".bss", 24, "ram")),
        entries=entries,
        methods=(MethodArenas("model.pte", "forward", 1001, (640, 32), 0, 16, 8),),
        stack=StackBound(420, "main", path, 0, 90, 120, {"relu_out": 40}, (), (), (), {"compiler": 2}),
        stack_peak=400,
    )


def grown(report: SizeReport, symbol: str, by: int) -> SizeReport:
    """The report with a symbol that takes more flash."""
    entries = tuple(replace(e, flash=e.flash + by) if e.symbol == symbol else e for e in report.entries)
    return replace(report, entries=entries, flash=report.flash + by)
