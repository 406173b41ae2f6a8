# SPDX-License-Identifier: BSD-3-Clause
"""The official exporter and runtime instead of ours, for results to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

import rushlight
from support.export import exported


class OfficialProgram:
    """The program that the official exporter wrote, with the attribute that the tests read."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.buffer: bytes = bytes(manager.buffer)


def export_officially(
    module: torch.nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> OfficialProgram:
    """Exports with the official package and its defaults."""
    from executorch.exir import to_edge

    program = torch.export.export(
        module, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=False
    )
    return OfficialProgram(to_edge(program).to_executorch())


def use_official_exporter() -> None:
    """Replaces rushlight.export by the official exporter, and the runtimes by the official one."""
    rushlight.export = export_officially
    exported.run_ours = exported.run_officially
