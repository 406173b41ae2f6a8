# SPDX-License-Identifier: BSD-3-Clause
"""The operators that a program may use, by runtime."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from rushlight.export.frontend.custom_operators import with_custom_operators
from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.frontend.served import ALL_DTYPES, is_served, served_row
from rushlight.export.options import Options

# The official kernel aborts if indices omit dimensions or values broadcast.
_UNSAFE = {"aten::index_put_"}
_OFFICIAL = Path(__file__).with_name("executorch_operators.txt")


def library_for(options: Options) -> OperatorLibrary:
    """The library that the options select, with the user's custom operators."""
    library = options.operators
    if library is None:
        library = _executorch() if options.runtime == "executorch" else _rushlight()
    if options.fallback is not None:
        library = _with_pytorch(library)
    return with_custom_operators(library, options.custom_ops) if options.custom_ops else library


@cache
def _rushlight() -> OperatorLibrary:
    return OperatorLibrary.default()


@cache
def _with_pytorch(library: OperatorLibrary) -> OperatorLibrary:
    """The library with the operators and dtypes that PyTorch computes in place of kernels."""
    rows = [replace(row, dtypes=ALL_DTYPES) for row in library.operators.values() if is_served(row)]
    return library.serving(served_row, rows)


@cache
def _executorch() -> OperatorLibrary:
    names = [line for line in _OFFICIAL.read_text().splitlines() if line and not line.startswith("#")]
    return _rushlight().only(set(names) - _UNSAFE, "executorch 1.5.1", any_order=False)
