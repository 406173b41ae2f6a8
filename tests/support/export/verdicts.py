# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on a module that is exported and run, and the reason."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from rushlight.errors import ExportFailed, RushlightError
from support.export.exported import TOLERANCE, Checked, ExportMismatch, Judge, check_export, reason_of
from support.export.isolated import Crashed, Hung

VERDICTS = {
    "pass": "right on all samples",
    "torch": "torch.export does not take it",
    "refused": "refused at export, with the nodes and the reason",
    "export": "the exporter fails",
    "run": "loading or running the program fails",
    "wrong": "the program computes something else",
    "crashed": "the process ended",
    "hung": "it took too long",
    "no samples": "no input that eager PyTorch takes",
}

# By dtype: t of the common rule.
TOLERANCES = {"float64": 1e-7, "complex128": 1e-7, "float16": 1e-2, "bfloat16": 5e-2, "complex32": 1e-2}


@dataclass
class Verdict:
    """One entry of a table.

    Attributes:
        verdict: a key of VERDICTS, of the first sample that is not right.
        reason: the error, on one line.
        samples: how many were run.
        on_official: how many of them ran on the official runtime, too.
        official: the error there, for a sample that is right here.
        operators: the operators that the programs call.
        seconds: of export and runs.
    """

    verdict: str
    reason: str = ""
    samples: int = 0
    on_official: int = 0
    official: str = ""
    operators: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """True if all samples were right."""
        return self.verdict == "pass"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Sample:
    """A module with one set of inputs."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    judge: Judge | None = None


def judge_samples(samples: Iterable[Sample], *, tolerance: float = TOLERANCE, **options: Any) -> Verdict:
    """Exports and runs each sample, until one is not right. `options` are rushlight.export's."""
    found = Verdict("pass")
    operators: set[str] = set()
    start = time.perf_counter()
    for sample in samples:
        found.samples += 1
        try:
            checked = _check(sample, tolerance, options)
        except Exception as error:
            found.verdict, found.reason = verdict_of(error), reason_of(error)
            break
        found.on_official += checked.on_official
        found.official = found.official or checked.official_failure
        operators |= checked.operators
    if not found.samples:
        found.verdict = "no samples"
    found.operators, found.seconds = sorted(operators), time.perf_counter() - start
    return found


def _check(sample: Sample, tolerance: float, options: dict[str, Any]) -> Checked:
    return check_export(
        sample.module,
        sample.args,
        sample.kwargs,
        tolerance=tolerance,
        official="reported",
        judge=sample.judge,
        **options,
    )


def verdict_of(error: BaseException) -> str:
    """The key of VERDICTS for an exception."""
    if isinstance(error, ExportMismatch):
        return "wrong"
    if isinstance(error, ExportFailed):
        return "torch" if "torch.export" in str(error).partition("\n")[0] else "refused"
    return "run" if isinstance(error, RushlightError) else "export"


def of_process(result: Any) -> Verdict:
    """The verdict that a process returned, or a verdict on a process that crashed or hung."""
    if isinstance(result, Verdict):
        return result
    kinds = {Crashed: "crashed", Hung: "hung"}
    return Verdict(kinds.get(type(result), "export"), reason_of(result))


def prepare() -> None:
    """Prepares a process that runs samples: one thread, and no messages of the packages that it loads."""
    torch.set_num_threads(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def summary(verdicts: dict[str, Verdict]) -> list[str]:
    """The number of each verdict, as lines of a Markdown table."""
    counts = Counter(verdict.verdict for verdict in verdicts.values())
    judged = sum(counts.values()) - counts["no samples"]
    lines = ["| | number | |", "|---|--:|--:|"]
    for key, title in VERDICTS.items():
        if counts[key]:
            share = "" if key == "no samples" else f"{counts[key] / max(judged, 1):.1%}"
            lines.append(f"| {title} | {counts[key]:,} | {share} |")
    both = [verdict for verdict in verdicts.values() if verdict.passed and verdict.on_official]
    right = sum(not verdict.official for verdict in both)
    title = f"of {len(both):,} with operators of the official runtime only, right there, too"
    return [*lines, f"| {title} | {right:,} | {right / max(len(both), 1):.1%} |"]


def by_reason(verdicts: dict[str, Verdict]) -> list[tuple[str, str, list[str]]]:
    """(verdict, reason without its digits, names), sorted by the number of names, largest first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, verdict in verdicts.items():
        if verdict.verdict not in ("pass", "no samples"):
            groups.setdefault((verdict.verdict, _shortened(verdict.reason)), []).append(name)
        elif verdict.official:
            groups.setdefault(("on the official runtime", _shortened(verdict.official)), []).append(name)
    return [(*key, names) for key, names in sorted(groups.items(), key=lambda item: -len(item[1]))]


def _shortened(reason: str) -> str:
    return re.sub(r"\d+", "#", reason)[:160]
