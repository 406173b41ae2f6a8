# SPDX-License-Identifier: BSD-3-Clause
"""rushlight build"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from rushlight import targets
from rushlight.build import BuildResult, build
from rushlight.build.api import alone_in
from rushlight.cli.console import Console, Table, echo_json, styled
from rushlight.cli.options import (
    build_options,
    json_option,
    kernels_option,
    kilobytes,
    parse_defines,
    shown_progress,
    target_option,
    verbose_option,
)
from rushlight.devtools.size import find_build, read_build
from rushlight.devtools.size.budget import check_budget, read_budget
from rushlight.devtools.verify import Proof, raise_if_failed, verify

_VERDICTS = {
    True: styled("pass", "bold green"),
    False: styled("fail", "bold red"),
    None: styled("not shown", "bold yellow"),
}


@click.command("build")
@click.argument("models", nargs=-1, type=click.Path(path_type=Path))
@target_option()
@click.option(
    "--model", "more_models", multiple=True, type=click.Path(path_type=Path), help="A further one of MODELS."
)
@click.option(
    "--data",
    "data_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A .ptd with tensors that the models leave out; boards get it linked in. May be repeated.",
)
@click.option("--ops", default="", metavar="NAME,...", help="Operators to add: aten::add.out,aten::mm.out")
@click.option(
    "--ops-yaml", multiple=True, type=click.Path(path_type=Path), help="Files that list operators to add."
)
@click.option("--all-ops", is_flag=True, help="Every operator there is.")
@click.option(
    "--dtypes",
    type=click.Choice(["model", "all"]),
    default="model",
    show_default=True,
    help="Compile models' operators for the models' dtypes only, or for all.",
)
@kernels_option
@click.option(
    "--priority", default="", metavar="NAME,...", help="Libraries: the first that has an operator gives it."
)
@click.option(
    "--prefer", multiple=True, metavar="OPERATOR=LIBRARY", help="The library that an operator is taken from."
)
@click.option(
    "--verify/--no-verify",
    "wants_proof",
    default=True,
    show_default=True,
    help="Run each model's case (case.json beside it, a bundled program's own, or ones) on what was built.",
)
@click.option(
    "--budget",
    "budget_file",
    type=click.Path(path_type=Path),
    help="Fail where the program takes more than this YAML file allows; docs/size.md has its form.",
)
@build_options
@json_option
@verbose_option
def build_command(
    models: tuple[Path, ...],
    target: str,
    more_models: tuple[Path, ...],
    data_files: tuple[Path, ...],
    ops: str,
    ops_yaml: tuple[Path, ...],
    all_ops: bool,
    dtypes: str,
    kernels: tuple[Path, ...],
    priority: str,
    prefer: tuple[str, ...],
    wants_proof: bool,
    budget_file: Path | None,
    output: Path | None,
    jobs: int | None,
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Build a runner for TARGET with the operators that MODELS (.pte, .bpte) need and those asked for
    besides, and run each of MODELS on it; exit status 0 only if all outputs are right."""
    cache_entries = parse_defines(defines)
    budget = read_budget(budget_file) if budget_file else None
    if budget is not None and budget.needs_stack:
        cache_entries.setdefault("RUSHLIGHT_CALL_GRAPH", "ON")
    listed = [path.resolve() for path in (*models, *more_models)]
    proofs: list[Proof] = []
    folder = (output or Path("rushlight-build") / targets.get(target).name).resolve()
    # Also while the models run: nobody else's runner takes the place of this one.
    with shown_progress() as progress, alone_in(folder) if _may_build(listed) else nullcontext():
        result = build(
            listed,
            target=target,
            data_files=data_files,
            ops=[name.strip() for name in ops.split(",") if name.strip()],
            ops_yaml=ops_yaml,
            all_ops=all_ops,
            dtypes=dtypes,
            kernels=kernels,
            priority=[name.strip() for name in priority.split(",") if name.strip()],
            prefer=prefer,
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
        check_budget(read_build(find_build(result.output), listed), budget)


def _may_build(models: Sequence[Path]) -> bool:
    """Whether the models are there: for a wrong command line no folder is made."""
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
