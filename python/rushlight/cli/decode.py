# SPDX-License-Identifier: BSD-3-Clause
"""rushlight decode"""

from __future__ import annotations

from dataclasses import asdict

import click

from rushlight.cli.console import echo, echo_json
from rushlight.cli.options import json_option
from rushlight.run import failures


@click.command("decode", epilog="Example: rushlight decode 1a2b0023 3c4d0012")
@click.argument("records", nargs=-1, required=True)
@json_option
def decode_command(records: tuple[str, ...], as_json: bool) -> None:
    """Explain the failure records of a device without logs.

    RECORDS are the numbers that the device printed after "failure:", or that its application read from
    rushlight::failure_trace(). The failed checks are listed with the innermost first."""
    decoded = failures.decode(failures.parse(word for word in records if word != "failure:"))
    if as_json:
        echo_json([asdict(failure) for failure in decoded])
        return
    for failure in decoded:
        echo(str(failure))
