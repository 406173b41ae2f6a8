# SPDX-License-Identifier: BSD-3-Clause
"""Exports PyTorch models to program files (.pte). The module is callable: `rushlight.export(model,
inputs)`."""

from rushlight.callable_module import make_callable
from rushlight.errors import MissingDependency

try:
    import torch  # noqa: F401
except ImportError as missing:
    raise MissingDependency(missing.name or "torch", "export") from missing

from rushlight.export.api import export
from rushlight.export.exported import Exported
from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.frontend.registration import register_custom_operators
from rushlight.export.options import MethodSource, Options
from rushlight.export.passes import Pass, PassContext
from rushlight.export.quantized_io import QuantizedIo

__all__ = [
    "Exported",
    "MethodSource",
    "OperatorLibrary",
    "Options",
    "Pass",
    "PassContext",
    "QuantizedIo",
    "export",
    "register_custom_operators",
]

make_callable(__name__)
