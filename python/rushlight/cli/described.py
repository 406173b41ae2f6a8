# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a described file (program.describe_file) as texts."""

from __future__ import annotations

from typing import Any


def memory_line(memory: dict[str, Any]) -> str:
    """The method arena for each pointer width, and temporary memory."""
    arenas = ", ".join(
        f"{size:,} B where pointers have {bits} bits" for bits, size in memory["method_arena"].items()
    )
    return f"method arena: {arenas}; temporary: {memory['temporary_peak']:,} B"


def value_of(value: dict[str, Any]) -> str:
    """An input, output or other value: dtype, shape, dynamism and device of a tensor."""
    if value["kind"] != "tensor":
        return " ".join(str(part) for part in value.values())
    return f"{value['dtype']} {shape_of(value)} {value.get('dynamism', '')}".rstrip() + device_of(value)


def shape_of(tensor: dict[str, Any]) -> str:
    """The shape, with the dim order unless that is row-major."""
    order = tensor["dim_order"]
    return str(tensor["shape"]) + (f" in order {order}" if order != sorted(order) else "")


def device_of(described: dict[str, Any]) -> str:
    """The device, unless that is the CPU."""
    device = described.get("device", "cpu")
    return "" if device == "cpu" else f" on {device}"


def dtypes_of(row: dict[str, Any]) -> str:
    """The dtypes of an operator's arguments."""
    arguments = row["dtypes"]
    listed = arguments.values() if isinstance(arguments, dict) else arguments
    return " ".join("/".join(one) if isinstance(one, (list, tuple)) else str(one) for one in listed)
