# SPDX-License-Identifier: BSD-3-Clause
"""Verifies a build: runs each model's case with only the selected operators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rushlight.build import BuildResult
from rushlight.build.cmake import Progress
from rushlight.documents import read_json
from rushlight.errors import BuildOnly, CheckFailed, InvalidArgument, MissingExecutable, RushlightError
from rushlight.program import is_bundled_program, read_model
from rushlight.run.api import run
from rushlight.run.builds import needs_runner
from rushlight.run.cases import Case, bundled_case, cases_of_ones, load_case
from rushlight.run.outcome import RunOutcome
from rushlight.run.runner import DEFAULT_TIMEOUT

ONES = "inputs of ones"


@dataclass(frozen=True)
class Proof:
    """The result of running one model. `case` names the source of its inputs. `passed` is None if the run
    proves nothing; `reason` tells why, or what failed. `max_error` is None if no output was compared."""

    model: Path
    case: str
    passed: bool | None
    reason: str = ""
    max_error: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The proof as JSON types; an error that is NaN or infinite is a string."""
        error = self.max_error
        shown = str(error) if error is not None and not math.isfinite(error) else error
        return {
            "model": str(self.model),
            "case": self.case,
            "passed": self.passed,
            "reason": self.reason,
            "max_error": shown,
        }


def verify(
    built: BuildResult,
    models: Sequence[Path],
    *,
    data_files: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    progress: Progress | None = None,
) -> list[Proof]:
    """Runs each of `models` on a build for them: on the host with the built Python module, elsewhere with the
    built runner. Inputs and expected outputs come from the bundled program, or from a case.json for the
    model beside it; otherwise inputs are ones, without expected outputs."""
    proofs = []
    for index, model in enumerate(models):
        if progress:
            progress(f"running {model.name}", index / len(models))
        proofs.append(_prove(built, model, tuple(data_files), defines or {}, timeout))
    return proofs


def raise_if_failed(proofs: Sequence[Proof]) -> None:
    """Error: CheckFailed with the name of each model that did not pass."""
    failed = [f"  {proof.model}: {proof.reason}" for proof in proofs if proof.passed is False]
    if failed:
        raise CheckFailed(
            "the build does not run its models as expected:\n" + "\n".join(failed),
            next_step="With --dtypes all: is it the selection? --no-verify leaves this out.",
        )


def case_for(model: Path) -> tuple[str, list[Case]]:
    """The source of a model's inputs, and its cases; by default a case of ones for each method."""
    if is_bundled_program(model.read_bytes()):
        return "its own cases", [bundled_case(model)]
    beside = model.with_name("case.json")
    if beside.is_file() and _is_for(beside, model):
        return "case.json", [load_case(beside)]
    return ONES, cases_of_ones(read_model(model))


def _is_for(case: Path, model: Path) -> bool:
    try:
        files = read_json(case, what="case").get("files")
    except (RushlightError, AttributeError):
        return False
    return files is None or model.name in files


def _prove(
    built: BuildResult, model: Path, data_files: tuple[Path, ...], defines: Mapping[str, str], timeout: float
) -> Proof:
    source, errors = "case", []
    try:
        source, cases = case_for(model)
        for case in cases:
            given = replace(case, data_files=data_files) if data_files else case
            outcome = _run(built, model, given, defines, timeout)
            if not outcome.passed:
                return Proof(model, source, False, outcome.reasons[0])
            errors += [] if outcome.max_error is None else [outcome.max_error]
    except (BuildOnly, MissingExecutable) as error:
        return Proof(model, source, None, error.message)
    except RushlightError as error:
        # Ones may be invalid inputs, such as indices out of range.
        unknown = source == ONES and isinstance(error, InvalidArgument) and not error.unsupported_dtype
        return Proof(model, source, None if unknown else False, " ".join(error.message.split()))
    return Proof(model, source, True, max_error=max(errors) if errors else None)


def _run(
    built: BuildResult, model: Path, case: Case, defines: Mapping[str, str], timeout: float
) -> RunOutcome:
    in_module = built.extension is not None and not needs_runner(defines)
    return run(
        model,
        case,
        target=built.target,
        built=built,
        linked_in=built.linked_model is not None,
        defines=defines,
        timeout=timeout,
        module=built.module() if in_module else None,
    )
