# SPDX-License-Identifier: BSD-3-Clause
"""Detects code that fixes a dynamic size: PyTorch specializes a symbol silently when it is compared with an
int."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram

from rushlight.errors import DelegationFailed


@contextmanager
def sizes_stay(program: ExportedProgram, who: str, **about: Any) -> Iterator[None]:
    """Errors: DelegationFailed if the code in the `with` block narrows a dynamic size of the program; `who`
    names the code."""
    env = _shape_env(program)
    before = _known(env)
    yield
    after = _known(env)
    narrowed = [f"{symbol} to {after[symbol]}" for symbol in before if before[symbol] != after.get(symbol)]
    if narrowed:
        raise DelegationFailed(
            f"{who}: expected dynamic sizes to stay open, got {', '.join(narrowed)}",
            next_step="Use torch.fx.experimental.symbolic_shapes.statically_known_true(size == number), or "
            "export with the size fixed.",
            **about,
        )


def _shape_env(program: ExportedProgram) -> Any:
    values = (node.meta.get("val") for node in program.graph.find_nodes(op="placeholder"))
    return next((value.fake_mode.shape_env for value in values if isinstance(value, FakeTensor)), None)


def _known(env: Any) -> dict[str, str]:
    """The known facts about each symbol: its value if it has one, else its range."""
    if env is None:
        return {}
    ranges = {str(symbol): f"{known.lower}..{known.upper}" for symbol, known in env.var_to_range.items()}
    return {**ranges, **{str(symbol): str(value) for symbol, value in env.replacements.items()}}
