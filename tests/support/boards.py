# SPDX-License-Identifier: BSD-3-Clause
"""Targets for tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from rushlight import targets
from rushlight.targets.bare_metal import BareMetal

ALIKE = {
    "microbit": "cortex-m0plus",
    "cortex-m3": "cortex-m4",
    "cortex-m7": "cortex-m4",
    "cortex-m33": "cortex-m4",
    "rv32imc": "rv32imac",
    "rv64gc": "rv32imafc",
}
"""Targets whose kernels are the source lines of another target's, except for a few of them or the width of a
word. Continuous integration runs a program on each of them, in test_converted.py or test_models.py, and the
other tests on the other target."""


def need(name: str) -> targets.Target:
    """Returns the target, or skips the test if its tools are missing."""
    target = targets.get(name)
    if missing := target.requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    return target


def usual() -> list[targets.Target]:
    """The targets that programs run on, with their usual compilers; without the host and targets that only
    zig builds for, which test_wasm.py and test_zig.py test."""
    found = targets.all_targets()
    return [each for each in found if each.compiler in ("gcc", "clang") and not each.build_only]


def marker(name: str) -> pytest.MarkDecorator:
    """The marker of a target."""
    mark: pytest.MarkDecorator = getattr(pytest.mark, name.replace("-", "_"))
    return mark


PORTABLE = frozenset({"cortex-m0plus", "rv32imafc", "linux-riscv64"})
"""Targets that run the kernels' portable code, as the reference of other machines does."""


def parameters(names: Iterable[str]) -> list[Any]:
    """A parameter for each target, with its marker. Continuous integration leaves out those in PORTABLE."""
    return [
        pytest.param(name, marks=[marker(name), *([pytest.mark.exhaustive] if name in PORTABLE else [])])
        for name in names
    ]


def set_vector_length(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the length of rv64gcv's vector registers, 256 bits by default, to `bits`."""
    original = BareMetal.description

    def description(target: BareMetal) -> dict[str, Any]:
        board = original(target)
        assert "vlen=256" in board["emulator"][-1]
        board["emulator"][-1] = board["emulator"][-1].replace("vlen=256", f"vlen={bits}")
        return board

    monkeypatch.setattr(BareMetal, "description", description)
