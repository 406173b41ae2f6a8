# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fuzz targets of a build: `fuzz.py mutants` or `fuzz.py libfuzzer`. `./dev fuzz` calls it.

The exit status is 0 when nothing crashed, hung or leaked. Inputs that failed are in the folder that is
printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.fuzz_targets import ROOT, TARGETS, Run, run_libfuzzer, run_mutants


def main(words: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="fuzz.py", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["mutants", "libfuzzer"])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="program, operators, ...: default all")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz", help="folder of the build")
    parser.add_argument("--count", type=int, default=10_000, help="mutants of each target")
    parser.add_argument("--seed", type=int, default=1, help="other mutants for another number")
    parser.add_argument(
        "--seconds", type=int, default=1800, help="run time of libFuzzer, all targets together"
    )
    parser.add_argument("--corpus", type=Path, help="where libFuzzer keeps what it found: default the build")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = parser.parse_args(words)
    known = {target.name: target for target in TARGETS}
    if unknown := set(options.targets) - known.keys():
        parser.error(f"unknown target {sorted(unknown)[0]}; there are {', '.join(known)}")
    chosen = [known[name] for name in options.targets] or TARGETS
    artifacts = options.build / "findings"
    artifacts.mkdir(parents=True, exist_ok=True)
    runs = []
    for target in chosen:
        if options.what == "mutants":
            runs.append(run_mutants(options.build, target, options.count, options.seed, artifacts))
        else:
            corpus = options.corpus or options.build / "corpus"
            seconds = max(1, options.seconds // len(chosen))
            runs.append(run_libfuzzer(options.build, target, seconds, artifacts, corpus))
    _report(runs, artifacts, options.json)
    return 1 if any(run.failures for run in runs) else 0


def _report(runs: list[Run], artifacts: Path, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"runs": [asdict(run) for run in runs], "findings": str(artifacts)}, indent=2))
        return
    for run in runs:
        print(f"{run.target}: {run.executions:,} inputs in {run.seconds:.0f} s, {len(run.failures)} failures")
        for stage, counts in run.counts.items():
            print(f"  {stage}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
        for failure in run.failures:
            print(f"  {failure}")
    if any(run.failures for run in runs):
        print(f"findings are in {artifacts}")


if __name__ == "__main__":
    sys.exit(main())
