# SPDX-License-Identifier: BSD-3-Clause
"""Runs the samples of OpInfo for which kernels lack an operator or a dtype on PyTorch's kernels, and writes
the table of docs/aten.md.

    python tests/conformance/export/served_table.py [--samples N] [--write]

Takes ten minutes on two cores. Results that are not equal to eager PyTorch are printed with their reasons.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from support import written
from support.export.isolated import call_each
from support.export.served import RESULTS, Served, judge_served
from support.export.verdicts import prepare
from support.opinfo.pairs import Pair, all_pairs

_SECONDS = 300.0
_HEAD = "| operators that kernels lack, and dtypes | OpInfo entries × dtypes | equal | close | not right |"


def _judge(work: tuple[str, int, bool]) -> Served:
    name, count, composite = work
    return judge_served(next(pair for pair in all_pairs() if str(pair) == name), count, composite=composite)


def run(pairs: Sequence[Pair], count: int, composite: bool, jobs: int) -> dict[str, Served]:
    """The outcomes by the pair's name. Prints its progress on stderr."""
    work = [(str(pair), count, composite) for pair in pairs]
    outcomes: dict[str, Served] = {}
    start = time.monotonic()
    for position, result in call_each(_judge, work, jobs, seconds=_SECONDS, prepare=prepare):
        is_served = isinstance(result, Served)
        outcomes[work[position][0]] = result if is_served else Served("fails", " ".join(str(result).split()))
        if len(outcomes) % 500 == 0:
            seconds = time.monotonic() - start
            print(f"{len(outcomes):,} of {len(work):,}, {seconds:.0f} s", file=sys.stderr, flush=True)
    return outcomes


def row(title: str, outcomes: dict[str, Served]) -> str:
    """The counts of one run: of the entries that PyTorch computes here, the three results."""
    counts = Counter(outcome.result for outcome in outcomes.values())
    wrong = [key for key in RESULTS if key not in ("kernels", "equal", "close", "no samples")]
    of = len(outcomes) - counts["kernels"] - counts["no samples"]
    told = ", ".join(f"{counts[key]} {key}" for key in wrong if counts[key]) or "0"
    return f"| {title} | {of:,} of {len(outcomes):,} | {counts['equal']:,} | {counts['close']:,} | {told} |"


def reasons(outcomes: dict[str, Served]) -> Iterator[str]:
    """A line for each entry that is not equal."""
    for name, outcome in outcomes.items():
        if outcome.result not in ("kernels", "equal", "no samples"):
            yield f"{name}: {outcome.result}: {outcome.reason}"


def main() -> int:
    """Runs both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--samples", type=int, default=2, help="samples of each entry")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--write", action="store_true", help="write the table into docs/aten.md")
    options = parser.parse_args()
    single = run(all_pairs(), options.samples, False, options.jobs)
    pairs = [pair for pair in all_pairs() if pair.dtype_name == "float32"]
    whole = run(pairs, options.samples, True, options.jobs)
    lines = [
        _HEAD,
        "|---|--:|--:|--:|---|",
        row("called by eager PyTorch, every dtype", single),
        row("composed of others too (`conv1d`), kept whole, float32", whole),
        "",
        f"Up to {options.samples} samples of each entry, torch {torch.__version__}.",
    ]
    print("\n".join([*lines, "", *reasons(single), *reasons(whole)]))
    names = {name for outcome in (*single.values(), *whole.values()) for name in outcome.operators}
    print(f"{len(names)} operators: {', '.join(sorted(names))}")
    if options.write:
        written.write(written.ROOT / "docs" / "aten.md", "served", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
