# SPDX-License-Identifier: BSD-3-Clause
"""The kernel library as a table: the results of PyTorch's OpInfo database, operator by operator.

    python tests/kernels/opinfo/table.py [--out FOLDER] [--page docs/operators.md] [--jobs N]

Writes operators.md, operators.json and operators.html into FOLDER (default out/operators), and the page that
the documentation keeps. Needs the package rushlight and the module `kernel_call`, in RUSHLIGHT_KERNEL_CALL or
under a build folder. Runs some 134,000 samples: some five minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import torch  # noqa: E402
import yaml  # noqa: E402

from rushlight.codegen.table import load_table  # noqa: E402
from support.kernel_module import load_kernels  # noqa: E402
from support.opinfo import html as opinfo_html  # noqa: E402
from support.opinfo import page as opinfo_page  # noqa: E402
from support.opinfo.matching import Rows  # noqa: E402
from support.opinfo.operator_lists import core_aten, official_names  # noqa: E402
from support.opinfo.pairs import Outcome, all_pairs, replay  # noqa: E402

_PAIRS_AT_A_TIME = 8

_state: dict[str, Any] = {}


def _start() -> None:
    kernels = load_kernels()
    _state.update(kernels=kernels, rows=Rows(kernels.signatures))


def _outcome(index: int) -> Outcome:
    return replay(all_pairs()[index], _state["kernels"], _state["rows"])


def run_all(jobs: int) -> list[Outcome]:
    """The outcomes of all pairs, in their order. Prints its progress on stderr."""
    total = len(all_pairs())
    start = time.monotonic()
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start) as pool:
        for outcome in pool.map(_outcome, range(total), chunksize=_PAIRS_AT_A_TIME):
            outcomes.append(outcome)
            if len(outcomes) % (total // 20) == 0:
                seconds = time.monotonic() - start
                print(f"{len(outcomes):,} of {total:,} pairs, {seconds:.0f} s", file=sys.stderr, flush=True)
    return outcomes


def collect(outcomes: list[Outcome]) -> dict[str, Any]:
    """The contents of the page, as one object.

    operators: for each operator and dtype, the number of samples that call it, and of those it passes.
    pairs: numbers of pairs that call an operator without a kernel, pass, fail, or call no kernel.
    """
    operators = load_table(ROOT / "kernels" / "ops.yaml").operators
    misses = yaml.safe_load((HERE / "misses.yaml").read_text())
    cells = {name: {dtype: [0, 0] for dtype in row.dtypes} for name, row in sorted(operators.items())}
    counts: Counter[str] = Counter()
    failing: dict[str, dict[str, list[str]]] = {}
    without: dict[str, dict[str, Any]] = {}
    for pair, outcome in zip(all_pairs(), outcomes, strict=True):
        _count(cells, outcome)
        counts[_verdict(outcome)] += 1
        if outcome.missing:
            reason = misses["without_kernel"].get(pair.name, "")
            without[pair.name] = {"operators": sorted(outcome.missing), "reason": reason}
        elif outcome.failures:
            reason = misses["fails"].get(str(pair), "")
            failing.setdefault(reason, {}).setdefault(pair.name, []).append(pair.dtype_name)
    return {
        "torch": torch.__version__.partition("+")[0],
        "lists": {"executorch": official_names(cells), "core_aten": core_aten(cells)},
        "pairs": dict(counts),
        "samples": sum(outcome.samples for outcome in outcomes),
        "calls": sum(outcome.calls for outcome in outcomes),
        "compared": sum(outcome.compared for outcome in outcomes),
        "operators": cells,
        "decomposed": sorted(set().union(*(outcome.decomposed for outcome in outcomes))),
        "failing": failing,
        "without_kernel": without,
    }


def _count(cells: dict[str, dict[str, list[int]]], outcome: Outcome) -> None:
    for (name, dtype), (called, right) in outcome.kernels.items():
        # If the kernel lacks the dtype, the pair is listed as a failure with its reason.
        if dtype in cells[name]:
            cells[name][dtype][0] += called
            cells[name][dtype][1] += right


def _verdict(outcome: Outcome) -> str:
    if outcome.missing:
        return "without_kernel"
    if outcome.failures:
        return "fail"
    return "pass" if outcome.kernels else "no_kernel_called"


def write(table: dict[str, Any], paths: Iterable[Path]) -> None:
    """Writes the table into files, in the formats of their names."""
    texts = {
        ".md": opinfo_page.page(table),
        ".html": opinfo_html.page(table),
        ".json": json.dumps(table, indent=1) + "\n",
    }
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path.suffix])


def main() -> int:
    """Runs everything and writes the tables."""
    parser = argparse.ArgumentParser(description="Run PyTorch's OpInfo samples and write a table.")
    parser.add_argument("--out", type=Path, default=Path("out/operators"), help="where to write")
    parser.add_argument("--page", type=Path, help="where to write the page as well (.md)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    paths = [options.out / f"operators.{kind}" for kind in ("md", "html", "json")]
    table = collect(run_all(options.jobs))
    write(table, [*paths, *filter(None, [options.page])])
    print("\n".join(opinfo_page.summary(table)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
