# SPDX-License-Identifier: BSD-3-Clause
"""Creates a new operator: adds its row to kernels/ops.yaml, and a source file for its kernel."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from rushlight import process
from rushlight.codegen.schema import Schema, parse_schema
from rushlight.codegen.table import FRONTS_FOLDER, load_table
from rushlight.errors import InvalidArgument, InvalidSelection, MissingDependency

_ASK_TORCH = """
import sys, torch
namespace, _, rest = sys.argv[1].partition("::")
name, _, overload = rest.partition(".")
packet = getattr(getattr(torch.ops, namespace), name, None)
found = packet.overloads() if packet is not None else []
if overload in found:
    print(getattr(packet, overload)._schema)
else:
    sys.exit("overloads: " + ", ".join(found) if found else "no such operator")
"""

_SOURCE = """\
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {{

{functions}
}}  // namespace rushlight::kernels
"""

_FUNCTION = """\
// {schema}
{declaration} {{
  [[maybe_unused]] constexpr TypeSet kTypes = selected_types("{name}");
  // Arguments checked, output resized, types dispatched, loop.
  return Error::NotImplemented;
}}
"""


@dataclass(frozen=True)
class NewOperator:
    """The files written: the table, and the source unless it existed for other overloads."""

    name: str
    declaration: str
    table: Path
    source: Path
    made_source: bool


def schema_text(operator: str) -> str:
    """The schema of `operator`: itself if it is one, else that of the installed torch.

    Errors: InvalidArgument if torch knows no such overload; MissingDependency if torch is not installed.
    """
    if "(" in operator:
        return operator
    name = operator if "::" in operator else f"aten::{operator}"
    result = process.run([sys.executable, "-c", _ASK_TORCH, name], timeout=120)
    if result.returncode == 0:
        return result.stdout.strip()
    if "No module named 'torch'" in result.stderr:
        raise MissingDependency("torch", "test")
    raise InvalidArgument(
        f"{name}: {result.stderr.strip().splitlines()[-1]}", next_step="Pass the whole schema instead."
    )


def add_operator(kernels: Path, operator: str, dtypes: str, shelf: str = "elementwise") -> NewOperator:
    """Adds an operator's row to `kernels`/ops.yaml in sorted order, and its source file if it is missing.

    Args:
        kernels: the folder kernels/ of a checkout.
        operator: a full name ("aten::relu.out", by default in namespace aten), or a schema.
        dtypes: the name of a dtype set in the table, or a dtype.
        shelf: the folder in kernels/operators for the source, unless another folder has it.

    Errors: InvalidSelection for an unreadable schema, an operator that has a row, or unknown dtypes; the
    errors of schema_text.
    """
    text = schema_text(operator)
    schema = parse_schema(text)
    path = kernels / "ops.yaml"
    table = load_table(path)
    if schema.name in table.operators:
        raise InvalidSelection(f"{schema.name}: expected no row in {path}, got one")
    kernel = _kernel_name(schema)
    content = path.read_text()
    path.write_text(_with_row(content, schema, text, kernel, dtypes))
    try:
        added = load_table(path).operators[schema.name]
    except InvalidSelection:
        path.write_text(content)
        raise
    source = table.source_path(added)
    made = not source.exists()
    if made:
        source = kernels / FRONTS_FOLDER / shelf / source.name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(_source(schema, text, kernel))
    return NewOperator(schema.name, schema.cpp_declaration(kernel), path, source, made)


def _kernel_name(schema: Schema) -> str:
    """The kernel's name in the official library's spelling: add_out, add_scalar_out."""
    overload = schema.name.partition(".")[2]
    name = f"{schema.base_name}_{overload or 'out'}".lower()
    return name if re.search(r"out\d?$", name) else f"{name}_out"


def _with_row(content: str, schema: Schema, text: str, kernel: str, dtypes: str) -> str:
    row = f'  - schema: "{text}"\n    kernel: {kernel}\n'
    if schema.has_tensor:
        row += f"    dtypes: {dtypes}\n"
    rows = re.compile(r'^  - schema: "([^"(]+)\(', re.MULTILINE)
    following = (m.start() for m in rows.finditer(content) if m[1].encode() > schema.name.encode())
    at = next(following, len(content))
    return content[:at] + row + content[at:]


def _source(schema: Schema, text: str, kernel: str) -> str:
    declaration = schema.cpp_declaration(kernel).replace("KernelContext& context", "KernelContext&")
    function = _FUNCTION.format(schema=text, declaration=declaration, name=schema.name)
    return _SOURCE.format(functions=function)
