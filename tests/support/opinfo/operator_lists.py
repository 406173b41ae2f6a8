# SPDX-License-Identifier: BSD-3-Clause
"""Operators that other projects' lists have, and the table lacks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch

from support.opinfo.matching import Rows

# Core ATen overloads that no program calls as an operator, with the reasons.
NOT_CALLED = {
    "aten::sym_is_contiguous": "answered while exporting",
    "aten::sym_storage_offset": "programs have no storage offsets",
}
# Operators of the official runtime that the table lacks, with the reasons.
NOT_WRITTEN = {
    "llama::quantized_moe_ffn.out": "its weights are packed for the kernels of the machine that exports",
}


def official_names(names: Collection[str]) -> dict[str, Any]:
    """The names that the official runtime registers: their total, the number in the table, and the missing
    ones with a reason each."""
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  registers its kernels
    from executorch.runtime import Runtime

    official = Runtime.get().operator_registry.operator_names
    missing = {name: NOT_WRITTEN.get(name, "not written") for name in sorted(official) if name not in names}
    return {"total": len(official), "here": len(official) - len(missing), "missing": missing}


def core_overloads() -> list[Any]:
    """The overloads that torch tags as Core ATen."""
    found = []
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if hasattr(packet, "overloads"):
            overloads = [getattr(packet, overload) for overload in packet.overloads()]
            found += [overload for overload in overloads if torch.Tag.core in overload.tags]
    return found


def core_aten(names: Collection[str]) -> dict[str, Any]:
    """Compares Core ATen with `names`, likewise."""
    rows = Rows(names)
    overloads = core_overloads()
    missing = {
        overload.name(): NOT_CALLED.get(overload.name(), "not written")
        for overload in overloads
        if rows.find(overload) is None and overload.name() not in names
    }
    return {"total": len(overloads), "here": len(overloads) - len(missing), "missing": missing}
