# SPDX-License-Identifier: BSD-3-Clause
"""Runs the samples of OpInfo for which kernels lack an operator or a dtype on PyTorch's kernels, and writes
the table of docs/aten.md.

    python tests/conformance/export/served_table.py [--samples N] [--write]
    python tests/conformance/export/served_table.py --composite

Takes ten minutes on two cores. Results that are not equal to eager PyTorch are printed with their reasons.
`--composite` keeps operators whole that PyTorch composes of others, such as conv1d, in float32.
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


def table(outcomes: dict[str, Served], count: int) -> str:
    """The number of each result, of the entries that PyTorch computes here."""
    counts = Counter(outcome.result for outcome in outcomes.values())
    names = {name for outcome in outcomes.values() for name in outcome.operators}
    shown = [f"| {title} | {counts[key]:,} |" for key, title in RESULTS.items() if counts[key]]
    lines = ["| OpInfo entries × dtypes | number |", "|---|--:|", *shown, ""]
    lines.append(f"Up to {count} samples of each, {len(names)} operators, torch {torch.__version__}.")
    return "\n".join(lines)


def reasons(outcomes: dict[str, Served]) -> Iterator[str]:
    """A line for each entry that is not equal."""
    for name, outcome in outcomes.items():
        if outcome.result not in ("kernels", "equal", "no samples"):
            yield f"{name}: {outcome.result}: {outcome.reason}"


def main() -> int:
    """Runs the samples, and prints or writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--samples", type=int, default=2, help="samples of each entry")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--write", action="store_true", help="write the table into docs/aten.md")
    kind.add_argument("--composite", action="store_true", help="operators that PyTorch composes of others")
    options = parser.parse_args()
    pairs = [pair for pair in all_pairs() if not options.composite or pair.dtype_name == "float32"]
    outcomes = run(pairs, options.samples, options.composite, options.jobs)
    text = table(outcomes, options.samples)
    print("\n".join([text, "", *reasons(outcomes)]))
    if options.write:
        written.write(written.ROOT / "docs" / "aten.md", "served", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
