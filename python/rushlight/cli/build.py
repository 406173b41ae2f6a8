# SPDX-License-Identifier: BSD-3-Clause
"""rushlight build"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from rushlight import targets
from rushlight.build import BuildResult, alone_in, build
from rushlight.cli.console import Console, Table, echo_json, styled
from rushlight.cli.options import (
    build_options,
    data_option,
    integers_option,
    json_option,
    kilobytes,
    parse_defines,
    shown_progress,
    table_options,
    target_option,
    verbose_option,
)
from rushlight.cli.values import FILE
from rushlight.codegen.options import FEATURES, merged
from rushlight.run.verify import Proof, raise_if_failed, verify
from rushlight.size import find_build, read_build
from rushlight.size.budget import check_budget, read_budget

_VERDICTS = {
    True: styled("pass", "bold green"),
    False: styled("fail", "bold red"),
    None: styled("not shown", "bold yellow"),
}


@click.command("build", epilog="Example: rushlight build model.pte -t cortex-m55")
@click.argument("arguments", metavar="[MODELS]...", nargs=-1, type=FILE)
@target_option()
@table_options("models", type=FILE, help="Another model (same as MODELS). May be repeated.")
@data_option("Data file (.ptd) with tensors that the models leave out; linked in on boards.")
@table_options("ops", "ops_yaml", "all_ops", "dtypes", "only_dtypes", "calls")
@table_options("kernels", "priority", "prefer", "cpu_variants")
@click.option(
    "--verify/--no-verify",
    "wants_proof",
    default=True,
    show_default=True,
    help="Run each model's test case: case.json beside it, a bundled program's own, or inputs of ones.",
)
@click.option(
    "--budget",
    "budget_file",
    type=FILE,
    help="Fail if the program exceeds the limits of this YAML file (docs/size.md).",
)
@integers_option
@build_options
@json_option
@verbose_option
def build_command(
    arguments: tuple[Path, ...],
    target: str,
    models: tuple[Path, ...],
    data_files: tuple[Path, ...],
    ops: tuple[str, ...],
    ops_yaml: tuple[Path, ...],
    all_ops: bool,
    dtypes: str,
    calls: str,
    only_dtypes: tuple[str, ...],
    kernels: tuple[Path, ...],
    priority: tuple[str, ...],
    prefer: tuple[str, ...],
    cpu_variants: tuple[str, ...],
    wants_proof: bool,
    budget_file: Path | None,
    integers: bool,
    output: Path | None,
    jobs: int | None,
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Build a runner with the operators that models need.

    The runner has the operators of MODELS (.pte or .bpte) and those named by options. Each model is then run
    on the target; the exit status is 0 only if all outputs are right."""
    cache_entries = parse_defines(defines)
    budget = read_budget(budget_file) if budget_file else None
    if budget is not None and budget.needs_stack:
        cache_entries = merged({FEATURES: "call-graph"}, cache_entries)
    listed = [path.resolve() for path in (*arguments, *models)]
    proofs: list[Proof] = []
    folder = (output or Path("rushlight-build") / targets.get(target).name).resolve()
    # The lock holds while the models run, too: no other process replaces the runner.
    with shown_progress() as progress, alone_in(folder) if _may_build(listed) else nullcontext():
        result = build(
            listed,
            target=target,
            data_files=data_files,
            ops=ops,
            ops_yaml=ops_yaml,
            all_ops=all_ops,
            dtypes=dtypes,
            calls=calls,
            only_dtypes=only_dtypes,
            kernels=kernels,
            priority=priority,
            prefer=prefer,
            cpu_variants=cpu_variants,
            integers=integers,
            output=folder,
            defines=cache_entries,
            jobs=jobs,
            progress=progress,
        )
        if wants_proof:
            files = [path.resolve() for path in data_files]
            proofs = verify(result, listed, data_files=files, defines=cache_entries, progress=progress)
    if as_json:
        verified = [proof.to_json() for proof in proofs]
        echo_json({**result.to_json(), "verified": verified})
    else:
        _print(result)
        _print_proofs(proofs, result.target)
    raise_if_failed(proofs)
    if budget is not None:
        inside = listed if result.linked_model is None else [result.linked_model]
        check_budget(read_build(find_build(result.output), inside), budget)


def _may_build(models: Sequence[Path]) -> bool:
    """True if the models exist: a wrong command line leaves no folder behind."""
    return all(model.is_file() for model in models)


def _print(result: BuildResult) -> None:
    console = Console()
    selection = Table("operator", "dtypes", title=f"{len(result.selection)} operators", title_justify="left")
    for name, dtypes in result.selection.items():
        selection.add_row(name, " ".join(dtypes))
    console.print(selection)
    for backend, askers in result.delegates.items():
        console.print(f"delegates to {backend}: {', '.join(askers)}")
    sections = Table("section", "bytes", title=result.target, title_justify="left")
    sections.columns[1].justify = "right"
    for name, size in result.sizes.sections.items():
        sections.add_row(name, f"{size:,}")
    console.print(sections)
    model = f", model {kilobytes(result.sizes.model)}" if result.sizes.model else ""
    console.print(f"flash {kilobytes(result.sizes.flash)}{model}, static RAM {kilobytes(result.sizes.ram)}")
    console.print(f"{result.executable} in {result.seconds:.1f} s")


def _print_proofs(proofs: Sequence[Proof], target: str) -> None:
    console = Console()
    for proof in proofs:
        error = "" if proof.max_error is None else f", maximum error {proof.max_error:.3g}"
        name = "/".join(proof.model.parts[-2:])
        console.print(f"{name} on {target}, {proof.case}:", _VERDICTS[proof.passed], end="")
        console.print(error + (f" ({proof.reason})" if proof.reason else ""))
