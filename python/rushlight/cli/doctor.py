# SPDX-License-Identifier: BSD-3-Clause
"""rushlight doctor"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import click

from rushlight.cli.checkup import MISSING, OK, WRONG, Finding, check_machine
from rushlight.cli.options import json_option, verbose_option
from rushlight.cli.plain import echo, echo_json
from rushlight.cli.values import WANTED
from rushlight.errors import NotReady

_COLOURS = {OK: "green", MISSING: "yellow", WRONG: "red"}


@click.command("doctor", epilog="Example: rushlight doctor cortex-m55 export")
@click.argument("names", nargs=-1, type=WANTED)
@click.option("--strict", is_flag=True, help="Exit with an error if anything is missing.")
@json_option
@verbose_option
def doctor_command(names: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Check this machine, and show how to mend problems.

    Checks the package, its compiled runtime, build tools, targets and extras. Each line is ok, missing or
    wrong, with the command that mends it. NAMES are targets or extras to check alone. The exit status is 0 if
    nothing installed is broken and all NAMES work."""
    findings = check_machine(names)
    required = {OK} if names or strict else {OK, MISSING}
    failed = [each for each in findings if each.status not in required and _counts(each, names)]
    if as_json:
        echo_json({"ready": not failed, "findings": [each.to_json() for each in findings]})
    else:
        _print(findings)
    if failed:
        listed = ", ".join(f"{each.name} ({each.status})" for each in failed)
        raise NotReady(f"this machine is not ready: {listed}", failed)


def _counts(finding: Finding, names: Sequence[str]) -> bool:
    """False for a program that named targets and extras do not need, such as ccache."""
    return finding.status == WRONG or not names or finding.name in names


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(each.name) for each in findings)
    for section, members in groupby(findings, lambda each: each.section):
        echo(section, bold=True)
        for each in members:
            echo(f"  {each.status:8}", end="", fg=_COLOURS[each.status])
            echo(f"{each.name:{width}}  {each.detail}".replace("\n", " "))
            for command in each.mend:
                echo(f"  {'':8}{'':{width}}  {command}", dim=True)
