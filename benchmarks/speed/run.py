# SPDX-License-Identifier: BSD-3-Clause
"""Compares the speed of models and operators with ONNX Runtime, PyTorch and the official runtime.

    python benchmarks/speed/run.py --models                    # all models, all contestants
    python benchmarks/speed/run.py --unseen                    # models that nothing was tuned for
    python benchmarks/speed/run.py --branches --threads 2      # models with independent branches
    python benchmarks/speed/run.py --recurrent                 # LSTM, GRU and RNN layers
    python benchmarks/speed/run.py --int8                      # models in int8
    python benchmarks/speed/run.py --operators                 # single operators
    python benchmarks/speed/run.py --only resnet18 "mm 256"    # selected models and operators
    python benchmarks/speed/run.py --load mobilenet-v2         # time and memory that loading takes
    python benchmarks/speed/run.py --profile resnet18          # where our time goes, operator by operator
    python benchmarks/speed/run.py --sweep --dtype float16     # every operator beside torch's eager mode

Needs rushlight and torch here; the peers' packages (onnxruntime, onnx, onnxscript, executorch, torch) here
or in the environment of --peers PYTHON. The report names missing peers. Contestants alternate, each in a
separate process on the same CPUs, while the others sleep.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

from contestants import CONTESTANTS
from hotspots import show, spots_of
from machine import pinned
from page import to_html, to_markdown
from results import Report
from rich.console import Console
from subjects import BRANCHES, INT8, MODELS, RECURRENT, SUBJECTS, UNSEEN, kind_of
from tournament import Settings, Tournament

from rushlight import process
from support import written

ROOT = Path(__file__).resolve().parents[2]


def profile_models(names: list[str], rounds: int, threads: int) -> None:
    """Exports each model and prints its operators' times."""
    import torch
    from making import make_file
    from networks import make

    torch.set_num_threads(1)
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 150)
    for name in names:
        _, args = make(SUBJECTS[name])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rushlight.pte"
            make_file(name, Path(folder), path.name)
            show(name, spots_of(path, [each.numpy() for each in args], rounds, threads), console)


def sweep_operators(options: argparse.Namespace) -> None:
    """Times every operator and dtype beside eager mode, and reports the worst ratios first."""
    import sweep

    kept = options.work / "sweep.jsonl"
    rows = sweep.sweep(options.dtype or sweep.DTYPES, options.only, kept, Console(stderr=True))
    markdown = sweep.to_markdown(rows)
    print(markdown)
    _save({options.json: lambda: sweep.to_json(rows), options.markdown: lambda: markdown})
    if options.write:
        written.write(Path(__file__).with_name("README.md"), "sweep", markdown)


def _save(texts: dict[Path | None, Callable[[], str]]) -> None:
    """Writes the texts whose paths were given."""
    for path, text in texts.items():
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text())


def _commit() -> str:
    """The commit of the checkout, with + if files differ from it."""
    if not process.find_program("git"):
        return ""
    found = process.run(["git", "describe", "--always", "--dirty=+", "--abbrev=9"], cwd=ROOT)
    return found.stdout.strip() if found.returncode == 0 else ""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", action="store_true", help="all models: " + ", ".join(MODELS))
    parser.add_argument(
        "--unseen", action="store_true", help="models that nothing was tuned for: " + ", ".join(UNSEEN)
    )
    parser.add_argument(
        "--branches",
        action="store_true",
        help="models with independent branches, for several --threads: " + ", ".join(BRANCHES),
    )
    parser.add_argument("--recurrent", action="store_true", help="recurrent layers: " + "; ".join(RECURRENT))
    parser.add_argument("--int8", action="store_true", help="models in int8: " + ", ".join(INT8))
    parser.add_argument("--operators", action="store_true", help="all operators")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these models and operators")
    parser.add_argument(
        "--load", nargs="*", metavar="MODEL", help="time and memory of loading [mobilenet-v2]"
    )
    parser.add_argument(
        "--sweep", action="store_true", help="every operator and dtype beside torch eager, the worst first"
    )
    parser.add_argument(
        "--dtype", nargs="+", metavar="DTYPE", help="dtypes of the sweep; --only selects by parts of names"
    )
    parser.add_argument("--profile", nargs="+", metavar="NAME", help="only our time by operator")
    parser.add_argument(
        "--contestants",
        nargs="+",
        metavar="NAME",
        choices=list(CONTESTANTS),
        help="selected contestants (default: all): " + "; ".join(CONTESTANTS),
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of each contestant [1]")
    parser.add_argument("--runs", type=int, default=7, help="rounds of each contestant [7]")
    parser.add_argument(
        "--clock", choices=("cpu", "wall"), help="the time of ratios [cpu on one thread, else wall]"
    )
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="interpreter of the peers")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "speed", help="folder for models")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--html", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md beside this file")
    options = parser.parse_args()
    unknown = [name for name in [*options.only, *(options.profile or [])] if name not in SUBJECTS]
    if unknown and not options.sweep:
        parser.error(f"subjects: expected some of {', '.join(SUBJECTS)}, got {', '.join(unknown)}")
    if options.runs < 1 or options.threads < 1:
        parser.error(f"--runs, --threads: expected 1 or more, got {options.runs}, {options.threads}")
    if options.load == []:
        options.load = ["mobilenet-v2"]
    return options


def main() -> int:
    options = _arguments()
    if options.profile:
        profile_models(options.profile, options.runs, options.threads)
        return 0
    if options.sweep:
        sweep_operators(options)
        return 0
    chosen = [*options.only]
    groups = ("unseen", "branches", "recurrent", "int8")
    asked = {"model": options.models, **{group: getattr(options, group) for group in groups}}
    chosen += [name for name in SUBJECTS if asked.get(kind_of(name), options.operators)]
    settings = Settings(
        threads=options.threads,
        rounds=options.runs,
        clock=options.clock or ("cpu" if options.threads == 1 else "wall"),
        peers=options.peers,
        work=options.work,
        contestants=options.contestants,
        commit=_commit(),
    )
    with Tournament(settings, Console(stderr=True)) as tournament:
        report = tournament.run(list(dict.fromkeys(chosen)), options.load or [])
    _write(report, options)
    return 0


def _write(report: Report, options: argparse.Namespace) -> None:
    markdown = to_markdown(report)
    print(markdown)
    _save(
        {
            options.json: lambda: json.dumps(report.to_json(), indent=1) + "\n",
            options.html: lambda: to_html(report),
            options.markdown: lambda: markdown,
        }
    )
    if options.write:
        written.write(Path(__file__).with_name("README.md"), _part(options), markdown)


def _part(options: argparse.Namespace) -> str:
    """The part of the page for these tables."""
    of_groups = next((group for group in ("unseen", "branches") if getattr(options, group)), None)
    return of_groups or pinned() or ("speed" if options.threads == 1 else "threads")


if __name__ == "__main__":
    sys.exit(main())
