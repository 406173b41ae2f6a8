# SPDX-License-Identifier: BSD-3-Clause
"""Export, build and run ExecuTorch programs on hosts and microcontrollers.

    load(path)                      a program (.pte, .bpte), ready to run: load("model.pte").forward(array)
    Program, Method                 what load() gives, and one of its methods
    export(model, inputs)           a PyTorch model as a program: .save("model.pte")
    quantize(model, inputs)         a PyTorch model with integer weights and activations, for export()
    build(models, target=...)       a runner for a host or a board with only what the models need
    set_seed(seed)                  where random operators begin
    verify_bundled_program(path)    whether a bundled program gives the outputs that it expects
    llm                             language models: llm.load(path).generate("Once upon a time")
    runtime                         the official-shaped API: Runtime.get().load_program(...)
    errors                          every error, with its exit code and its next step

Each has its own help: help(rushlight.export). What needs PyTorch comes with
`pip install 'rushlight[export]'`, building and the command `rushlight` with `rushlight[build]`.
`rushlight --help` lists the commands.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # of what is loaded lazily
    from rushlight import errors, llm, runtime
    from rushlight.build import build
    from rushlight.convert.loading import load
    from rushlight.export import export
    from rushlight.quantize import quantize
    from rushlight.run.bundled import verify_bundled_program
    from rushlight.runtime import Method, Program, set_seed

__version__ = "0.1.0"

# Names that come from a module of their own, loaded when first asked for: a device without numpy's
# company (or a build machine without the native module) imports only what it uses.
_LAZY = {
    "load": "rushlight.convert.loading",
    "Program": "rushlight.runtime",
    "Method": "rushlight.runtime",
    "build": "rushlight.build",
    "errors": "rushlight.errors",
    "export": "rushlight.export",
    "llm": "rushlight.llm",
    "quantize": "rushlight.quantize",
    "runtime": "rushlight.runtime",
    "set_seed": "rushlight.runtime",
    "verify_bundled_program": "rushlight.run.bundled",
}

__all__ = [
    "Method",
    "Program",
    "__version__",
    "build",
    "errors",
    "export",
    "llm",
    "load",
    "quantize",
    "runtime",
    "set_seed",
    "verify_bundled_program",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'rushlight' has no attribute '{name}'")
    from rushlight.errors import MissingDependency, MissingFeature

    try:
        module = importlib.import_module(_LAZY[name])
    except MissingDependency as missing:
        raise MissingFeature(missing.package, missing.extra) from missing
    return module if _LAZY[name].endswith(f".{name}") else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({name for name in globals() if name.startswith("__")} | {*__all__})
