# SPDX-License-Identifier: BSD-3-Clause
"""The kernel library as a table: what of PyTorch's OpInfo database passes, operator by operator.

    python tests/kernels/opinfo/table.py [--out FOLDER] [--page docs/operators.md] [--jobs N]

Writes operators.md, operators.json and operators.html into FOLDER (default out/operators), and the page that
the documentation keeps. Needs the module `kernel_call`, in RUSHLIGHT_KERNEL_CALL or under a build folder.
Runs some 200,000 samples: minutes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent), str(ROOT / "tests")]

import opinfo_html  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from matching import Rows  # noqa: E402
from operator_lists import core_aten, official_names  # noqa: E402
from opinfo_pairs import Outcome, all_pairs, replay  # noqa: E402
from rich.progress import track  # noqa: E402

from conftest import load_kernels  # noqa: E402

COLUMNS = {
    "bool": "b",
    "uint8": "u8",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
}
"""Dtypes, and what stands above their columns."""

_state: dict[str, Any] = {}


def _start() -> None:
    torch.set_num_threads(1)
    kernels = load_kernels()
    _state.update(kernels=kernels, rows=Rows(kernels.signatures))


def _outcome(index: int) -> Outcome:
    return replay(all_pairs()[index], _state["kernels"], _state["rows"])


def run_all(jobs: int) -> list[Outcome]:
    """The outcomes of all pairs, in their order."""
    pairs = all_pairs()
    with multiprocessing.get_context("spawn").Pool(jobs, _start) as pool:
        results = pool.imap(_outcome, range(len(pairs)), chunksize=4)
        return list(track(results, "OpInfo", total=len(pairs)))


def collect(outcomes: list[Outcome], names: list[str], misses: dict[str, Any]) -> dict[str, Any]:
    """What the page says, as one object.

    operators: for each of `names`, by dtype: how many samples call it, and in how many it is right.
    pairs: how many pairs of the database there are, need a kernel that is not there, pass, and fail.
    """
    cells: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    counts: Counter[str] = Counter()
    decomposed: Counter[str] = Counter()
    failing: dict[str, list[str]] = {}
    without: dict[str, list[str]] = {}
    for pair, outcome in zip(all_pairs(), outcomes, strict=True):
        for name, (called, right) in outcome.kernels.items():
            cell = cells[name].setdefault(pair.dtype_name, [0, 0])
            cell[0] += called
            cell[1] += right
        decomposed.update(outcome.decomposed)
        if outcome.missing:
            counts["without_kernel"] += 1
            without[pair.name] = sorted(outcome.missing)
        elif outcome.failures:
            counts["fail"] += 1
            failing.setdefault(pair.name, []).append(pair.dtype_name)
        elif outcome.kernels:
            counts["pass"] += 1
        else:
            counts["no_kernel_called"] += 1
    return {
        "torch": torch.__version__,
        "pairs": dict(counts),
        "samples": sum(outcome.samples for outcome in outcomes),
        "operators": cells,
        "decomposed": dict(sorted(decomposed.items())),
        "failing": {
            name: {dtype: misses["fails"].get(f"{name}-{dtype}", "") for dtype in dtypes}
            for name, dtypes in sorted(failing.items())
        },
        "without_kernel": {
            name: {"operators": operators, "reason": misses["without_kernel"].get(name, "")}
            for name, operators in sorted(without.items())
        },
        "lists": {"executorch": official_names(set(names)), "core_aten": core_aten(names)},
    }


def to_markdown(table: dict[str, Any]) -> str:
    """The page."""
    pairs = table["pairs"]
    judged = pairs.get("pass", 0) + pairs.get("fail", 0)
    lines = [
        "# The operators",
        "",
        "Written by `python tests/kernels/opinfo/table.py`; the rows are those of `kernels/ops.yaml`.",
        "",
        f"PyTorch {table['torch']}'s OpInfo database has {table['samples']:,} samples that PyTorch takes",
        "on the CPU. Each ATen call that they make is made on our kernel, too, and compared with what",
        "PyTorch returned. What has no kernel is decomposed as `torch.export` users' exporters do.",
        "",
        f"- Of {judged:,} pairs of an entry and a dtype whose operators are here, {pairs.get('pass', 0):,} "
        f"({pairs.get('pass', 0) / max(judged, 1):.1%}) pass all samples.",
        f"- {pairs.get('without_kernel', 0):,} pairs call something that is neither here nor decomposes.",
        *(_list_line(title, entry) for title, entry in _lists(table)),
        "",
        "A number counts samples that call the operator and were right; n/m are n of m.",
        "",
        "| operator | " + " | ".join(COLUMNS.values()) + " |",
        "|---|" + "--:|" * len(COLUMNS),
    ]
    for name, cells in table["operators"].items():
        lines.append(f"| `{name}` | " + " | ".join(_cell(cells.get(dtype)) for dtype in COLUMNS) + " |")
    lines += ["", "## Left to decomposition", "", "PyTorch's own decompositions are as good as a kernel:", ""]
    lines.append(", ".join(f"`{name}`" for name in table["decomposed"]) + ".")
    lines += ["", "## What does not pass", ""]
    for name, dtypes in table["failing"].items():
        by_reason: dict[str, list[str]] = {}
        for dtype, reason in dtypes.items():
            by_reason.setdefault(reason, []).append(dtype)
        lines += [f"- {name} ({', '.join(d)}): {reason}" for reason, d in by_reason.items()]
    lines += ["", "## Without a kernel", ""]
    for name, entry in table["without_kernel"].items():
        lines.append(f"- {name} ({', '.join(entry['operators'])}): {entry['reason']}")
    return "\n".join(lines) + "\n"


def _lists(table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    titles = {"executorch": "names that executorch 1.5.1 registers", "core_aten": "Core ATen overloads"}
    return [(titles[key], entry) for key, entry in table["lists"].items()]


def _list_line(title: str, entry: dict[str, Any]) -> str:
    missing = "".join(f"; {name}: {reason}" for name, reason in entry["missing"].items())
    return f"- Of {entry['total']} {title}, {entry['here']} are here{missing}."


def _cell(cell: list[int] | None) -> str:
    if cell is None:
        return ""
    called, right = cell
    return str(right) if called == right else f"{right}/{called}"


def main() -> int:
    """Runs everything and writes the tables."""
    parser = argparse.ArgumentParser(description="Run PyTorch's OpInfo samples and write a table.")
    parser.add_argument("--out", type=Path, default=Path("out/operators"), help="where to write")
    parser.add_argument("--page", type=Path, help="where to write the page as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    names = sorted(load_kernels().signatures)
    misses = yaml.safe_load((HERE / "misses.yaml").read_text())
    table = collect(run_all(options.jobs), names, misses)
    options.out.mkdir(parents=True, exist_ok=True)
    page = to_markdown(table)
    (options.out / "operators.md").write_text(page)
    (options.out / "operators.json").write_text(json.dumps(table, indent=1) + "\n")
    (options.out / "operators.html").write_text(opinfo_html.page(table, COLUMNS))
    if options.page:
        options.page.write_text(page)
    print("\n".join(line for line in page.splitlines()[:16] if line.startswith("- ")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
