# SPDX-License-Identifier: BSD-3-Clause
"""The table of operators as a page of the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

_DIFFERENCES = Path(__file__).resolve().parents[2] / "kernels" / "opinfo" / "differences.yaml"

COLUMNS = {
    "bool": "bool",
    "uint8": "u8",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
}
"""Dtypes, and what stands above their columns."""

RARE = {"uint16": "u16", "uint32": "u32", "uint64": "u64", "complex32": "c32"}
"""Dtypes that share the last column: PyTorch itself has few operators for them."""

_LISTS = {
    "executorch": "names that ExecuTorch 1.5.1's runtime registers",
    "core_aten": "overloads of Core ATen",
}

COMMAND = "python tests/kernels/opinfo/table.py --page docs/operators.md"


def page(table: dict[str, Any]) -> str:
    """The page.

    Args:
        table: as table.py collects it.
    """
    with_dtypes = {name: cells for name, cells in table["operators"].items() if cells}
    pairs = table["pairs"]
    others = [name for name, cells in table["operators"].items() if not cells]
    blocks = [
        "# The operators",
        f"`{COMMAND}` has written this page; do not edit it.",
        _paragraph(
            f"rushlight has kernels for {len(table['operators'])} operators. `rushlight kernels` lists them, "
            "with `--sizes` in bytes on a target. A build contains the operators that your models call."
        ),
        "\n".join(summary(table)),
        _paragraph(
            f"OpInfo, the test database of PyTorch {table['torch']}, has {table['samples']:,} samples "
            f"for the CPU. They make {table['calls']:,} calls of operators of this table; "
            f"{table['compared']:,} of these are repeated on rushlight's kernel, and the results "
            f"compared. OpInfo has {sum(pairs.values()):,} pairs of an entry and a dtype: "
            f"{pairs['without_kernel']} call an operator without a kernel or a decomposition, and "
            f"{pairs['no_kernel_called']} call no operator."
        ),
        "## Operators and dtypes",
        _paragraph(
            "A number n counts the samples that call the operator with this dtype; all match PyTorch's "
            "result. n/m: n of m samples match. `+`: the kernel takes this dtype, but no sample has it; "
            "`tests/kernels` may test it. Empty: the kernel does not take this dtype. The last column is for "
            f"{', '.join(RARE)}."
        ),
        _matrix(with_dtypes),
        _paragraph("Operators without tensors, or of any value:"),
        _names(others),
        "## Samples that do not pass",
        "\n".join(_failing(reason, entries) for reason, entries in _by_weight(table["failing"])),
        differences(),
        "## Without a kernel",
        "Entries of OpInfo that call an operator without a kernel or a decomposition:",
        "\n".join(
            _item(f"{name} ({', '.join(entry['operators'])}): {entry['reason']}.")
            for name, entry in table["without_kernel"].items()
        ),
        "## Left to decomposition",
        _paragraph(
            "Samples call these operators, too. They have no kernel: exporters decompose them into the "
            "operators above."
        ),
        _names([name.removeprefix("aten::") for name in table["decomposed"]]),
    ]
    return "\n\n".join(blocks) + "\n"


def differences() -> str:
    """The section on intended differences."""
    listed = yaml.safe_load(_DIFFERENCES.read_text())
    items = [_item(f"{names}: {what}.") for names, what in listed.items()]
    return "## Intended differences\n\n" + "\n".join(items)


def summary(table: dict[str, Any]) -> list[str]:
    """The numbers: one line for each list that the operators are compared with."""
    pairs = table["pairs"]
    passed, failed = pairs.get("pass", 0), pairs.get("fail", 0)
    lines = ["| list | size | in rushlight |", "|---|--:|--:|"]
    notes = []
    for key, title in _LISTS.items():
        entry = table["lists"][key]
        lines.append(
            f"| {title} | {entry['total']:,} | {entry['here']:,} ({entry['here'] / entry['total']:.1%}) |"
        )
        notes += [f"{name} ({reason})" for name, reason in entry["missing"].items()]
    judged = passed + failed
    lines.append(
        f"| pairs of an OpInfo entry and a dtype whose operators have kernels | {judged:,} | "
        f"{passed:,} pass all samples ({passed / max(judged, 1):.1%}) |"
    )
    return lines + (["", _paragraph(f"Missing: {', '.join(notes)}.")] if notes else [])


def cell(found: Sequence[int] | None) -> str:
    """The cell of the table for [called, right]; empty where the kernel does not take the dtype."""
    if found is None:
        return ""
    called, right = found
    if called == right:
        return str(called or "+")
    return f"{right}/{called}"


def _matrix(operators: dict[str, dict[str, list[int]]]) -> str:
    lines = [
        "| operator | " + " | ".join(COLUMNS.values()) + " | other |",
        "|---|" + "--:|" * len(COLUMNS) + "---|",
    ]
    for name, cells in operators.items():
        rare = ", ".join(f"{short} {cell(cells[dtype])}" for dtype, short in RARE.items() if dtype in cells)
        lines.append(
            f"| `{name}` | " + " | ".join(cell(cells.get(dtype)) for dtype in COLUMNS) + f" | {rare} |"
        )
    return "\n".join(lines)


def _by_weight(failing: dict[str, dict[str, list[str]]]) -> list[tuple[str, dict[str, list[str]]]]:
    """The reasons, in the order of their number of pairs."""
    return sorted(failing.items(), key=lambda item: -sum(map(len, item[1].values())))


def _failing(reason: str, entries: dict[str, list[str]]) -> str:
    by_dtypes: dict[str, list[str]] = {}
    for name, dtypes in entries.items():
        by_dtypes.setdefault(", ".join(dtypes), []).append(name)
    listed = "; ".join(f"{', '.join(names)} ({dtypes})" for dtypes, names in by_dtypes.items())
    return _item(f"**{reason or 'unknown'}**: {listed}.")


def _names(names: Sequence[str]) -> str:
    return _paragraph(", ".join(f"`{name}`" for name in names) + ".")


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False)


def _item(text: str) -> str:
    return textwrap.fill(
        f"- {text}", 110, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
