# SPDX-License-Identifier: BSD-3-Clause
"""Export, build and run ExecuTorch programs on hosts and microcontrollers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # of what is loaded lazily
    from rushlight import runtime
    from rushlight.build import build
    from rushlight.devtools.bundled import verify_bundled_program
    from rushlight.export import export
    from rushlight.runtime import Method, Program, load, set_seed

__version__ = "0.1.0"

# Names that come from a room of their own, loaded when first asked for: a device without numpy's
# company (or a build machine without the native module) imports only what it uses.
_LAZY = {
    "load": "rushlight.runtime",
    "Program": "rushlight.runtime",
    "Method": "rushlight.runtime",
    "build": "rushlight.build",
    "export": "rushlight.export",
    "quantize": "rushlight.quantize",
    "runtime": "rushlight.runtime",
    "set_seed": "rushlight.runtime",
    "verify_bundled_program": "rushlight.devtools.bundled",
}

__all__ = [
    "Method",
    "Program",
    "__version__",
    "build",
    "export",
    "load",
    "quantize",
    "runtime",
    "set_seed",
    "verify_bundled_program",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'rushlight' has no attribute '{name}'")
    module = importlib.import_module(_LAZY[name])
    return module if _LAZY[name].endswith(f".{name}") else getattr(module, name)
