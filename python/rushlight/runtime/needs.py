# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels of this installation's runtime ask for beside a program's own memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.runtime.program import load


@dataclass(frozen=True)
class KernelNeeds:
    """Bytes: `scratch` is the most that one call takes while it runs, at the largest shapes; `prepared` are
    constants in the kernels' own layouts, made when the method is loaded unless that is turned off. What
    methods share is counted with each."""

    scratch: int
    prepared: int

    def to_json(self) -> dict[str, int]:
        return asdict(self)


def kernel_needs(path: Path) -> dict[str, KernelNeeds] | str:
    """The needs by method of a .pte; or why this runtime cannot tell."""
    try:
        program = load(path, threads=1, prepare=False)
        memories = {name: program.load_method(name).memory() for name in program.method_names}
    except RushlightError as error:
        return str(error).splitlines()[0]
    return {name: KernelNeeds(each["scratch"], each["prepared"]) for name, each in memories.items()}
