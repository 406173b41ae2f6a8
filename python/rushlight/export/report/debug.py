# SPDX-License-Identifier: BSD-3-Clause
"""The debug record of an export: the node that each instruction was lowered from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Node

from rushlight.export.delegate import call_delegate
from rushlight.export.graph.nodes import attribute, frames, input_of, modules
from rushlight.export.report.report import MethodReport
from rushlight.lowered.instructions import Origin
from rushlight.program import DebugRecord, FileImage
from rushlight.program.debug import InstructionOrigin, MethodOrigins, fingerprint
from rushlight.program.model import DelegateCall, KernelCall, Method


def debug_record(image: FileImage, reports: Sequence[MethodReport]) -> DebugRecord:
    """The debug record for the program file in `image`."""
    methods = [
        MethodOrigins(
            report.name,
            tuple(
                _origin(index, _operator(report.method, index), origin)
                for index, origin in enumerate(report.origins)
                if origin.node is not None
            ),
        )
        for report in reports
    ]
    return DebugRecord(fingerprint(image), tuple(methods))


def _operator(method: Method, index: int) -> str:
    match method.instructions[index]:
        case KernelCall(operator, _):
            return method.operators[operator]
        case DelegateCall(delegate, _):
            return method.delegates[delegate].id
    return ""


def _origin(index: int, operator: str, origin: Origin) -> InstructionOrigin:
    node = origin.node
    assert node is not None
    return InstructionOrigin(
        index=index,
        operator=operator,
        handles=_handles(origin.handle),
        node=node.name,
        frames=tuple(frames(node)),
        modules=tuple(modules(node)),
        delegate_handles=_inside(node),
    )


def _handles(given: Any) -> tuple[int, ...]:
    """Debug handles as a tuple; 0 stands for none."""
    if isinstance(given, int):
        return (given,) if given else ()
    return tuple(map(int, given or ()))


def _inside(node: Node) -> dict[str, tuple[int, ...]]:
    """The backend's debug handles by the ids of its profiling events."""
    if node.target is not call_delegate:
        return {}
    assert node.graph.owning_module is not None
    lowered = attribute(node.graph.owning_module, str(input_of(node).target))
    told = lowered.meta.get("debug_handle_map") or {}
    return {str(key): _handles(handles) for key, handles in told.items()}
