# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels of this installation's runtime ask for beside a program's own memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight.errors import RushlightError
from rushlight.runtime.program import load


@dataclass(frozen=True)
class DelegateNeeds:
    """Bytes of a method's delegates: `working` are their values and what lies between their nodes, the others
    as in KernelNeeds."""

    working: int
    scratch: int
    prepared: int


@dataclass(frozen=True)
class KernelNeeds:
    """Bytes: `scratch` is the most that one call takes while it runs, at the largest shapes; `prepared` are
    constants in the kernels' own layouts, made when the method is loaded unless that is turned off. What
    methods share is counted with each. `delegates` take theirs in addition."""

    scratch: int
    prepared: int
    delegates: DelegateNeeds

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def kernel_needs(path: Path) -> dict[str, KernelNeeds] | str:
    """The needs by method of a .pte; or why this runtime cannot tell."""
    try:
        program = load(path, threads=1, prepare=False)
        memories = {name: program.load_method(name).memory() for name in program.method_names}
    except RushlightError as error:
        return str(error).splitlines()[0]
    return {
        name: KernelNeeds(each["scratch"], each["prepared"], DelegateNeeds(**each["delegates"]))
        for name, each in memories.items()
    }
