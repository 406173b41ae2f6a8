# SPDX-License-Identifier: BSD-3-Clause
"""rushlight run"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rushlight import targets
from rushlight.cli.console import Console, echo_json, styled
from rushlight.cli.options import (
    data_option,
    define_option,
    integers_option,
    json_option,
    kilobytes,
    parse_defines,
    shown_progress,
    table_options,
    target_option,
    verbose_option,
)
from rushlight.cli.values import FILE, FOLDER
from rushlight.errors import CheckFailed, InvalidArgument
from rushlight.files import writing
from rushlight.program import is_bundled_program, read_model
from rushlight.run.api import run
from rushlight.run.cases import Case, Tolerance, bundled_case, case_of_ones, load_case, load_npz
from rushlight.run.outcome import RunOutcome
from rushlight.run.runner import DEFAULT_TIMEOUT
from rushlight.runtime.fallback import FALLBACKS, Fallback
from rushlight.trace.request import TraceRequest


@click.command("run", epilog="Example: rushlight run model.pte -t cortex-m55")
@click.argument("model", type=FILE)
@target_option()
@click.option("--case", "case_file", type=FILE, help="Test case (case.json) with calls and expected outputs.")
@click.option("--inputs", type=FILE, help="File (.npz) with the inputs in order.")
@click.option("--method", help="Method to run [default: forward, or all methods of the case].")
@data_option("Data file (.ptd) with tensors that the model leaves out [default: the case's].")
@click.option(
    "--rtol",
    type=float,
    help="Relative tolerance [default: the case's; for a .bpte by dtype, 1.3e-6 for float32, and some "
    "steps of the scale for quantized outputs].",
)
@click.option(
    "--atol",
    type=float,
    help="Absolute tolerance [default: the case's; for a .bpte by dtype, 1e-5 × the largest output "
    "for float32].",
)
@click.option("-o", "--output", type=FOLDER, help="Folder to build in [default: a cache].")
@click.option("--save", type=FILE, help="Write the outputs to this file (.npz).")
@click.option(
    "--etdump",
    type=FILE,
    help="Write a trace with times to this file (.etdp).",
)
@click.option(
    "--etdump-size", type=int, help="Bytes of target memory for the trace's events [default: 64 KiB]."
)
@click.option(
    "--debug-output",
    type=FILE,
    help="With --etdump: write the outputs of operators to this file.",
)
@click.option("--debug-size", type=int, help="Bytes of target memory for --debug-output [default: 256 KiB].")
@click.option("--baked", is_flag=True, help="Bake the model (rushlight bake) instead of interpreting it.")
@click.option("--timeout", default=DEFAULT_TIMEOUT, show_default=True, help="Most seconds for the run.")
@click.option("--max-instructions", type=int, help="Most instructions in one call [default: no limit].")
@click.option("--max-memory", type=int, help="Most bytes of memory for one method [default: the machine's].")
@click.option(
    "--fallback",
    type=click.Choice(FALLBACKS),
    help="Let PyTorch compute operators without a kernel, or first all that it has; on the host.",
)
@integers_option
@table_options("kernels")
@define_option
@json_option
@verbose_option
def run_command(
    model: Path,
    target: str,
    case_file: Path | None,
    inputs: Path | None,
    method: str | None,
    data_files: tuple[Path, ...],
    rtol: float | None,
    atol: float | None,
    output: Path | None,
    save: Path | None,
    etdump: Path | None,
    etdump_size: int | None,
    debug_output: Path | None,
    debug_size: int | None,
    baked: bool,
    timeout: float,
    max_instructions: int | None,
    max_memory: int | None,
    fallback: Fallback | None,
    integers: bool,
    kernels: tuple[Path, ...],
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run a program on this machine, a board or an emulator.

    MODEL is a program (.pte) or a bundled program (.bpte). A runner is built first if the target needs one.
    Without --case and --inputs, a bundled program runs every case of every method and compares the outputs
    with its own. The exit status is 0 only if all outputs are right."""
    case = _case(model, case_file, inputs, method)
    if data_files:
        case = replace(case, data_files=_existing(data_files))
    if rtol is not None or atol is not None:
        case = case.held_to(Tolerance.given(rtol, atol))
    trace = None
    if etdump is not None:
        trace = TraceRequest(etdump, etdump_size, debug_output, debug_size)
    elif debug_output is not None:
        raise InvalidArgument(
            "--debug-output: expected --etdump beside it, got none",
            next_step="Add --etdump FILE: the trace names the values.",
        )
    with shown_progress() as progress:
        outcome = run(
            model,
            case,
            target=target,
            build_folder=output,
            kernels=kernels,
            defines=parse_defines(defines),
            timeout=timeout,
            progress=progress,
            trace=trace,
            baked=baked,
            max_instructions=max_instructions,
            max_memory=max_memory,
            fallback=fallback,
            integers=integers,
        )
    if save is not None:
        _save(save, outcome)
    echo_json(_as_json(outcome)) if as_json else _print(outcome)
    if not outcome.passed:
        shown = "\n".join(f"  {reason}" for reason in outcome.reasons[:10])
        raise CheckFailed(
            f"outputs: expected the values of the case, got others:\n{shown}",
            next_step="Compare with another target, or allow more with --rtol and --atol.",
        )


def _case(model: Path, case_file: Path | None, inputs: Path | None, method: str | None) -> Case:
    if case_file is not None and inputs is not None:
        raise InvalidArgument(
            "--case, --inputs: expected one of them, got both", next_step="Leave out one of them."
        )
    if case_file is not None:
        return load_case(case_file, method)
    if inputs is not None:
        return load_npz(inputs, method or "forward")
    if not model.is_file():
        raise InvalidArgument(f"model {model}: no such file", next_step="Check the path.")
    data = model.read_bytes()
    if is_bundled_program(data):
        return bundled_case(model, method)
    return case_of_ones(read_model(data), method or "forward")


def _existing(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    for path in paths:
        if not path.is_file():
            raise InvalidArgument(f"data file {path}: no such file", next_step="Check the path.")
    return paths


def _number(value: Any) -> Any:
    """A value for JSON: an array as dtype, shape and nested lists. NaN and infinities, which JSON lacks,
    become strings."""
    if isinstance(value, np.ndarray):
        listed = value.tolist() if value.dtype.kind in "biu" else _finite(value.astype(np.float64).tolist())
        return {"dtype": value.dtype.name, "shape": list(value.shape), "data": listed}
    return _finite(value)


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _as_json(outcome: RunOutcome) -> dict[str, Any]:
    report = outcome.report
    return {
        "target": outcome.target,
        "passed": outcome.passed,
        "max_error": _finite(outcome.max_error),
        "seconds": round(outcome.seconds, 3),
        "calls": [
            {
                "method": call.method,
                "outputs": [_number(value) for value in call.result.outputs],
                "max_error": _finite(call.comparison.max_error) if call.comparison else None,
                "passed": call.comparison.passed if call.comparison else None,
                "instructions": call.result.instructions or None,
                "ns": call.result.ns,
            }
            for call in outcome.calls
        ],
        "memory": None
        if report is None
        else {
            "method_arena": report.method_arena_bytes,
            "planned": report.planned_bytes,
            "temporary_peak": report.temporary_peak_bytes,
            "scratch": report.scratch_bytes,
            "prepared": report.prepared_bytes,
            "stack_peak": outcome.stack_peak,
        },
        "trace_loss": None if outcome.trace_loss is None else asdict(outcome.trace_loss),
        "banks": targets.get(outcome.target).banks(),
        "load_instructions": report.load_instructions or None if report else None,
        "sizes": outcome.build.sizes.to_json() if outcome.build else None,
    }


def _save(path: Path, outcome: RunOutcome) -> None:
    arrays: dict[str, Any] = {
        f"{call.method}.{i}.output{j}": np.asarray(value)
        for i, call in enumerate(outcome.calls)
        for j, value in enumerate(call.result.outputs)
        if value is not None
    }
    target = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")  # as np.savez names it
    with writing(target) as file:
        np.savez(file, **arrays)


def _print(outcome: RunOutcome) -> None:
    console = Console()
    for call in outcome.calls[:8]:
        for j, value in enumerate(call.result.outputs):
            console.print(f"{call.method} output {j}: {_summary(value)}")
    if len(outcome.calls) > 8:
        console.print(f"... and {len(outcome.calls) - 8} more calls")
    instructions = [call.result.instructions for call in outcome.calls if call.result.instructions]
    if instructions:
        console.print(f"{sum(instructions) // len(instructions):,} instructions per inference")
    if outcome.report is not None:
        report = outcome.report
        console.print(
            f"RAM: method arena {kilobytes(report.method_arena_bytes)}, "
            f"planned {kilobytes(report.planned_bytes)}, temporary {kilobytes(report.temporary_peak_bytes)}"
            + (f", prepared weights {kilobytes(report.prepared_bytes)}" if report.prepared_bytes else "")
            + (f", stack {kilobytes(outcome.stack_peak)}" if outcome.stack_peak else "")
        )
    if banks := targets.get(outcome.target).banks():
        console.print(
            f"banks: code in {banks['flash']}, data and stack in {banks['ram']}, "
            f"model in {banks['model']}, arenas in {banks['arena']}"
        )
    loss = outcome.trace_loss
    if loss is not None and loss.events + loss.values > 0:
        console.print(
            styled("trace incomplete", "bold yellow"),
            f": {loss.events} events and {loss.values} values did not fit; "
            "give them more memory with --etdump-size and --debug-size",
            sep="",
        )
    if outcome.max_error is not None:
        verdict = styled("pass", "bold green") if outcome.passed else styled("fail", "bold red")
        console.print(f"{outcome.target}: ", verdict, f", maximum error {outcome.max_error:.3g}", sep="")


def _summary(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    shown = np.array2string(
        value.astype(np.float64) if value.dtype.kind == "V" else value, threshold=12, precision=5
    )
    return f"{value.dtype.name} {list(value.shape)} {shown}"
