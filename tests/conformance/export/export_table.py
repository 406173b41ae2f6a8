# SPDX-License-Identifier: BSD-3-Clause
"""A table of the exporter: entries that export, run, and give PyTorch's result.

    python tests/conformance/export/export_table.py opinfo [--dtypes float32,int64] [--samples N]
    python tests/conformance/export/export_table.py nn

`opinfo` is PyTorch's OpInfo database, `nn` the modules of torch.nn. Each sample is exported as a module whose
inputs are its tensors, run on our runtime, and on the official one where that has all operators. Writes
WHAT.json and WHAT.md into the folder --out. With `--official` the official exporter makes the programs, and
its runtime alone runs them: the numbers to compare with. OpInfo in float32 takes ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.export.entries import judge_class, judge_pair
from support.export.isolated import call_each
from support.export.nn_modules import class_names
from support.export.verdicts import (
    Verdict,
    by_reason,
    of_process,
    prepare,
    summary,
)
from support.opinfo.pairs import all_pairs

_SECONDS = 300.0


def _judge_entry(work: tuple[str, str, int, bool]) -> Verdict:
    what, name, count, is_official = work
    if is_official:
        from support.export.official_export import use_official_exporter

        use_official_exporter()
    if what == "nn":
        return judge_class(name, count)
    return judge_pair(next(pair for pair in all_pairs() if str(pair) == name), count)


def run_all(
    what: str, names: Sequence[str], count: int, jobs: int, *, is_official: bool = False
) -> dict[str, Verdict]:
    """The verdicts by name. Prints its progress on stderr."""
    verdicts: dict[int, Verdict] = {}
    start = time.monotonic()
    work = [(what, name, count, is_official) for name in names]
    for position, result in call_each(_judge_entry, work, jobs, seconds=_SECONDS, prepare=prepare):
        verdicts[position] = of_process(result)
        if len(verdicts) % 50 == 0:
            seconds = time.monotonic() - start
            print(f"{len(verdicts):,} of {len(names):,}, {seconds:.0f} s", file=sys.stderr, flush=True)
    return {name: verdicts[position] for position, name in enumerate(names)}


def page(title: str, verdicts: dict[str, Verdict]) -> str:
    """The table as Markdown: the counts, then the failures by reason."""
    lines = [f"# {title}", "", *summary(verdicts), ""]
    for verdict, reason, names in by_reason(verdicts):
        lines.append(f"- {len(names)} {verdict}: {reason}: {', '.join(names)}")
    return "\n".join(lines) + "\n"


def _opinfo_names(dtypes: str) -> list[str]:
    chosen = set(dtypes.split(","))
    return [str(pair) for pair in all_pairs() if dtypes == "all" or pair.dtype_name in chosen]


def main() -> int:
    """Runs the tables named on the command line and writes them."""
    names: dict[str, Callable[[str], list[str]]] = {"opinfo": _opinfo_names, "nn": lambda _: class_names()}
    parser = argparse.ArgumentParser(description="Export and run samples, and write a table of the results.")
    parser.add_argument("what", choices=sorted(names))
    parser.add_argument("--out", type=Path, default=Path("out/export"), help="where to write")
    parser.add_argument("--dtypes", default="float32", help="comma-separated, or 'all'")
    parser.add_argument("--samples", type=int, default=2, help="samples of each entry")
    parser.add_argument("--name", default="", help="only entries whose name has this")
    parser.add_argument("--every", type=int, default=1, help="only every n-th entry")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--official", action="store_true", help="the official exporter and runtime instead")
    options = parser.parse_args()
    chosen = [name for name in names[options.what](options.dtypes) if options.name in name][:: options.every]
    verdicts = run_all(options.what, chosen, options.samples, options.jobs, is_official=options.official)
    options.out.mkdir(parents=True, exist_ok=True)
    described = {name: verdict.to_json() for name, verdict in verdicts.items()}
    (options.out / f"{options.what}.json").write_text(json.dumps(described, indent=1) + "\n")
    (options.out / f"{options.what}.md").write_text(page(f"{options.what}, exported", verdicts))
    print("\n".join(summary(verdicts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
