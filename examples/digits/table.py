# SPDX-License-Identifier: BSD-3-Clause
"""The table of measurements, one row a target."""

from __future__ import annotations

from collections.abc import Sequence

from measure import Measurement
from rich.box import SIMPLE
from rich.table import Table


def cost(measured: Measurement) -> str:
    """The cost of one image: time on the host, instructions where the target counts them."""
    if measured.instructions is not None:
        return f"{measured.instructions:,} instr."
    return f"{measured.microseconds:,.0f} µs" if measured.microseconds is not None else "not counted"


def table(measurements: Sequence[Measurement], title: str, expected_from: str) -> Table:
    """A table within 80 columns. `expected_from` names what the outputs are compared with."""
    shown = Table(title=title, box=SIMPLE, pad_edge=False)
    shown.add_column("target", no_wrap=True)
    for heading in ("right", "error", "flash", "model", "RAM", "an image", "build"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for m in measurements:
        shown.add_row(
            m.target,
            f"{m.correct}/{m.images}",
            f"{m.max_error:.0e}" if m.passed else f"[red]{m.max_error:.0e}[/]",
            *(f"{size / 1000:,.1f}" for size in (m.flash, m.model, m.ram)),
            cost(m),
            f"{m.build_seconds:.1f}",
        )
    shown.caption = (
        f"error: largest difference from {expected_from}\n"
        "flash, model, RAM in kB; RAM: static data and arenas; build in s"
    )
    return shown
