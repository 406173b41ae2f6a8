# SPDX-License-Identifier: BSD-3-Clause
"""The memory that kernels of this installation's runtime need in addition to a program's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight.errors import RushlightError
from rushlight.runtime.program import load


@dataclass(frozen=True)
class DelegateNeeds:
    """The needs of a method's delegates in bytes: `working` are their values and the tensors between their
    nodes; the other fields as in KernelNeeds."""

    working: int
    scratch: int
    prepared: int


@dataclass(frozen=True)
class KernelNeeds:
    """Needs in bytes: `scratch` is the maximum during one call at the largest shapes; `prepared` are
    constants in the kernels' own layouts, created when the method is loaded unless that is disabled.
    Constants shared by several methods count for each. `delegates` are additional."""

    scratch: int
    prepared: int
    delegates: DelegateNeeds

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def kernel_needs(path: Path) -> dict[str, KernelNeeds] | str:
    """The needs of each method of a .pte by name; or the reason why this runtime cannot tell."""
    try:
        program = load(path, threads=1, prepare=False, optimize=False)
        memories = {name: program.load_method(name).memory() for name in program.method_names}
    except RushlightError as error:
        return str(error).splitlines()[0]
    return {
        name: KernelNeeds(each["scratch"], each["prepared"], DelegateNeeds(**each["delegates"]))
        for name, each in memories.items()
    }
