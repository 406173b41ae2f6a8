# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the same kinds that are not kept as files: they are exported in each test run."""

from __future__ import annotations

from collections.abc import Callable

from support.interop.official import Case
from support.interop.siblings import (
    control,
    dtypes,
    dynamic,
    layout,
    networks,
    quantized,
    settings,
    state,
    structure,
)

CASES: dict[str, Callable[[], Case]] = {
    f"{module.__name__.rpartition('.')[2]}/{name}": make
    for module in (control, dtypes, dynamic, layout, networks, quantized, settings, state, structure)
    for name, make in module.CASES.items()
}
