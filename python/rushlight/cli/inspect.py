# SPDX-License-Identifier: BSD-3-Clause
"""rushlight inspect"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import Console, Table, echo_json
from rushlight.cli.described import device_of, dtypes_of, memory_line, shape_of, value_of
from rushlight.cli.inspect_page import inspect_page
from rushlight.cli.options import json_option, kilobytes
from rushlight.cli.values import FILE
from rushlight.convert.payloads import describe_payloads
from rushlight.errors import InvalidArgument
from rushlight.files import write_text
from rushlight.program import describe_file, read_model
from rushlight.runtime.needs import kernel_needs


@click.command("inspect", epilog="Example: rushlight inspect model.pte")
@click.argument("file", type=FILE)
@click.option("--html", "html_file", type=FILE, help="Write the contents to this file as a page (HTML).")
@json_option
def inspect_command(file: Path, html_file: Path | None, as_json: bool) -> None:
    """Show the contents of a program or data file.

    For a program (.pte): methods, operators, constants, memory, delegates and named data. For a bundled
    program (.bpte) also its test cases; for a data file (.ptd) its keys."""
    if not file.is_file():
        raise InvalidArgument(f"model {file}: no such file", next_step="Check the path.")
    described = describe_file(file)
    if described["kind"] == "program":
        _add_needs(file, described)
        _add_payloads(file, described)
    if html_file is not None:
        write_text(html_file, inspect_page(file, described))
    if as_json:
        echo_json(described)
        return
    console = Console()
    size = kilobytes(described["file_bytes"])
    console.print(f"{file}: {described['kind']}, {size}, schema version {described['version']}")
    if described["kind"] == "data file":
        _print_data(console, described)
    elif described["kind"] == "bundled program":
        _print_bundle(console, described)
    else:
        _print_program(console, described)


def _add_needs(file: Path, described: dict[str, Any]) -> None:
    """Adds to each method's `memory` the bytes that this machine's kernels need, as "kernels". That is null
    if it cannot be computed, and "kernels_unknown" then says why."""
    needs = kernel_needs(file)
    for method in described["methods"]:
        known = None if isinstance(needs, str) else needs[method["name"]].to_json()
        method["memory"]["kernels"] = known
        if isinstance(needs, str):
            method["memory"]["kernels_unknown"] = needs


def _add_payloads(file: Path, described: dict[str, Any]) -> None:
    """Adds the graph of each delegate as "graph", or in it the reason why it is unknown."""
    if not any(method["delegates"] for method in described["methods"]):
        return
    known = describe_payloads(read_model(file))
    for method in described["methods"]:
        for delegate, graph in zip(method["delegates"], known[method["name"]], strict=True):
            delegate["graph"] = graph


def _print_delegate(console: Console, delegate: dict[str, Any]) -> None:
    """Prints a delegate's id, size and the calls of its graph."""
    graph = delegate.get("graph", {})
    console.print(
        f"  delegate {delegate['id']}: {kilobytes(delegate['bytes'])}, called {delegate['calls']} times"
    )
    if "calls" not in graph:
        console.print(f"    {graph.get('unknown', 'its graph is unknown')}")
        return
    size = kilobytes(graph["constant_bytes"])
    console.print(f"    {len(graph['calls'])} calls, {graph['constants']} constants of {size}")
    table = Table("call", "operator", "tensors", "handle")
    for index, (call, handle) in enumerate(zip(graph["calls"], graph["debug_handles"], strict=True)):
        tensors = ", ".join(_shape_of(each) for each in call["tensors"])
        table.add_row(str(index), call["operator"], tensors, str(handle))
    console.print(table)


def _shape_of(tensor: dict[str, Any]) -> str:
    sign = "const " if tensor["constant"] else ""
    return f"{sign}{tensor['dtype']} {tensor['shape']}"


def _print_data(console: Console, described: dict[str, Any]) -> None:
    table = Table("key", "dtype", "shape", "bytes", "segment")
    for column in (3, 4):
        table.columns[column].justify = "right"
    for row in described["data"]:
        shape = shape_of(row) if "shape" in row else ""
        table.add_row(row["key"], row.get("dtype", ""), shape, f"{row['bytes']:,}", str(row["segment"]))
    console.print(table)


def _print_bundle(console: Console, described: dict[str, Any]) -> None:
    for suite in described["suites"]:
        console.print(f"\nmethod {suite['method']}: {len(suite['cases'])} cases", style="bold")
        for index, case in enumerate(suite["cases"][:8]):
            inputs = ", ".join(value_of(value) for value in case["inputs"])
            outputs = ", ".join(value_of(value) for value in case["outputs"]) or "no expected outputs"
            console.print(f"  case {index}: {inputs} -> {outputs}")
        if len(suite["cases"]) > 8:
            console.print(f"  ... and {len(suite['cases']) - 8} more")
    program = described["program"]
    size = kilobytes(program["file_bytes"])
    console.print(f"\nprogram inside: {size}, schema version {program['version']}")
    _print_program(console, program)


def _print_program(console: Console, described: dict[str, Any]) -> None:
    for method in described["methods"]:
        _print_method(console, method)
    for named in described["named_data"]:
        size = kilobytes(named["bytes"])
        console.print(f"named data {named['key']}: {size}, segment {named['segment']}")


def _print_method(console: Console, method: dict[str, Any]) -> None:
    console.print(f"\nmethod {method['name']}: {method['instructions']} instructions", style="bold")
    for kind in ("inputs", "outputs"):
        for index, value in enumerate(method[kind]):
            console.print(f"  {kind[:-1]} {index}: {value_of(value)}")
    constants = method["constants"]
    console.print(f"  constants: {constants['count']}, {kilobytes(constants['bytes'])}")
    if method["external"]:
        size = kilobytes(method["external_bytes"])
        console.print(f"  in data files: {size}, {', '.join(method['external'])}")
    for buffer in method["planned_memory"]:
        console.print(f"  planned memory {buffer['id']}: {kilobytes(buffer['bytes'])}{device_of(buffer)}")
    console.print(f"  {memory_line(method['memory'])}")
    if needs := method["memory"].get("kernels"):
        scratch, prepared = kilobytes(needs["scratch"]), kilobytes(needs["prepared"])
        console.print(f"  kernels on this machine: scratch {scratch}, prepared weights {prepared}")
        if method["delegates"]:
            working, scratch, prepared = (kilobytes(each) for each in needs["delegates"].values())
            console.print(
                f"  delegates on this machine: working memory {working}, scratch {scratch}, "
                f"prepared weights {prepared}"
            )
    for delegate in method["delegates"]:
        _print_delegate(console, delegate)
    table = Table("operator", "calls", "dtypes")
    for row in method["operators"]:
        table.add_row(row["name"], str(row["calls"]), dtypes_of(row))
    console.print(table)
