# SPDX-License-Identifier: BSD-3-Clause
"""Export, build and run ExecuTorch programs on hosts and microcontrollers.

    load(path)                      a program (.pte, .bpte), ready to run: load("model.pte").forward(array)
    Program, Method                 the result of load(), and one of its methods
    export(model, inputs)           a PyTorch model as a program: .save("model.pte")
    quantize(model, inputs)         a PyTorch model with integer weights and activations, for export()
    build(models, target=...)       a runner for a host or a board, with only the operators of the models
    set_seed(seed)                  the seed of random operators
    verify_bundled_program(path)    compares a bundled program's outputs with the expected ones
    llm                             language models: llm.load(path).generate("Once upon a time")
    runtime                         ExecuTorch's runtime API: Runtime.get().load_program(...)
    errors                          every error, with its exit code and its next step

Each has its own help: help(rushlight.export). `pip install 'rushlight[export]'` adds export and quantize,
`rushlight[build]` adds build and the command `rushlight`.
`rushlight --help` lists the commands.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names loaded lazily
    from rushlight import errors, llm, runtime
    from rushlight.build import build
    from rushlight.convert.loading import load
    from rushlight.export import export
    from rushlight.quantize import quantize
    from rushlight.run.bundled import verify_bundled_program
    from rushlight.runtime import Method, Program, set_seed

__version__ = "0.1.0"

# Names whose modules are loaded on first use: a device with only numpy, or a build machine without the native
# module, imports only the modules that it uses.
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
