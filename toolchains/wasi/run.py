# SPDX-License-Identifier: BSD-3-Clause
"""run.py MODULE ARGUMENTS...: runs a WASI program in wasmtime, with access to the current folder only. Exits
with the program's status, or 134 if it trapped."""

from __future__ import annotations

import sys

import wasmtime

TRAPPED = 134


def run(path: str, arguments: list[str]) -> int:
    """Returns the exit status of the program in the file `path`."""
    engine = wasmtime.Engine()
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    system = wasmtime.WasiConfig()
    system.argv = [path, *arguments]
    system.inherit_stdin()
    system.inherit_stdout()
    system.inherit_stderr()
    system.preopen_dir(".", ".")
    store = wasmtime.Store(engine)
    store.set_wasi(system)
    instance = linker.instantiate(store, wasmtime.Module.from_file(engine, path))
    try:
        instance.exports(store)["_start"](store)
    except wasmtime.ExitTrap as end:
        return end.code
    except (wasmtime.Trap, wasmtime.WasmtimeError) as problem:
        print(problem, file=sys.stderr)
        return TRAPPED
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
