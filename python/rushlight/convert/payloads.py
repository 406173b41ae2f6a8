# SPDX-License-Identifier: BSD-3-Clause
"""Describes the payloads of delegates as plain data for printing and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from rushlight.convert.delegates import XNNPACK
from rushlight.errors import RushlightError
from rushlight.program import Program, Storage, TensorInfo, parts_of, read_program
from rushlight.runtime import native


def describe_payloads(program: Program, module: ModuleType | None = None) -> dict[str, list[dict[str, Any]]]:
    """For each method its delegates, in order: for XNNPACK the calls that replace its nodes, with the dtypes
    and shapes of their tensors, and the constants; for others the reason why the payload is unknown."""
    used = native.default_module() if module is None else module
    named = parts_of(program).named_data if program.plans else {}
    return {
        plan.name: [_payload(delegate.id, delegate.payload, named, used) for delegate in plan.delegates]
        for plan in program.plans
    }


def _payload(
    backend: str, payload: memoryview, named: Mapping[str, Any], module: ModuleType
) -> dict[str, Any]:
    if backend != XNNPACK:
        return {"unknown": f"only {backend} can read the payload"}
    try:
        lowered = native.call(module, module.lower_xnnpack, payload, dict(named), False)
    except RushlightError as error:
        return {"unknown": error.message}
    plan = read_program(lowered["program"]).plans[0]
    tensors = [each.data for each in plan.values if isinstance(each.data, TensorInfo)]
    constants = [each for each in tensors if each.storage is Storage.EXTERNAL]
    return {
        "calls": [
            {
                "operator": name,
                "tensors": [_tensor(each) for value in values for each in plan.tensors_of(value)],
            }
            for name, values in plan.calls()
        ],
        "debug_handles": lowered["debug_handles"],
        "constants": len(constants),
        "constant_bytes": sum(len(data) for data in lowered["constants"].values()),
        "planned_bytes": sum(plan.buffer_sizes),
    }


def _tensor(tensor: TensorInfo) -> dict[str, Any]:
    return {
        "dtype": tensor.dtype,
        "shape": list(tensor.sizes),
        "dim_order": list(tensor.dim_order),
        "constant": tensor.storage is Storage.EXTERNAL,
    }
