# SPDX-License-Identifier: BSD-3-Clause
"""Programs: load once, run methods on arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal

from rushlight.errors import InvalidArgument, MethodNotFound, OperatorNotFound
from rushlight.runtime import native
from rushlight.runtime.execution import Execution
from rushlight.runtime.fallback import FALLBACKS, Fallback, serve
from rushlight.runtime.method import Method, Outputs
from rushlight.runtime.method_meta import MethodMemory, MethodMeta
from rushlight.runtime.text_generator import TextGenerator
from rushlight.status import Status

ProgramSource = str | os.PathLike[str] | bytes | bytearray | memoryview
DataFiles = Sequence[str | os.PathLike[str]]
LoadMode = Literal["file", "mmap", "mmap-locked", "mmap-try-locked"]
_MODES: dict[str, int] = {"file": 0, "mmap": 1, "mmap-locked": 2, "mmap-try-locked": 3}
_DATA_STEP = "Give the .ptd file that was written beside the program: data_files=[...]."
_FALLBACK_STEP = (
    'Let PyTorch compute them: rushlight.load(..., fallback="aten"). Or export the model without them, or '
    "add kernels."
)


def _contiguous(view: memoryview) -> bytes:
    """The bytes of a view; the original object if the view covers a whole bytes object."""
    whole = isinstance(view.obj, bytes) and view.c_contiguous and view.nbytes == len(view.obj)
    return view.obj if whole and isinstance(view.obj, bytes) else bytes(view)


class Program:
    """A verified .pte. Methods are loaded on first use and keep their state between calls."""

    def __init__(
        self,
        source: ProgramSource,
        module: ModuleType | None = None,
        *,
        data_files: DataFiles = (),
        load_mode: LoadMode = "mmap",
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        threads: int | None = None,
        prepare: bool = True,
        max_instructions: int | None = None,
        max_memory: int | None = None,
        fallback: Fallback | None = None,
        lanes: int | None = None,
        call_seconds: Mapping[str, Sequence[float]] | None = None,
        optimize: bool = True,
    ) -> None:
        if fallback not in (None, *FALLBACKS):
            raise ValueError(f"fallback: expected None or one of {', '.join(FALLBACKS)}, got {fallback!r}")
        limits = {
            "threads": threads,
            "max_instructions": max_instructions,
            "max_memory": max_memory,
            "lanes": lanes,
        }
        for name, limit in limits.items():
            if limit is not None and not 1 <= limit < 1 << 64:
                raise InvalidArgument(f"{name}: expected at least 1, got {limit}")
        self._module = native.default_module() if module is None else module
        self._trace = self._begin_trace(debug_buffer_size) if enable_etdump else None
        files = [os.fspath(file) for file in data_files]
        self._has_data = bool(files)
        seconds = {name: [float(each) for each in times] for name, times in (call_seconds or {}).items()}
        options = self._module.LoadOptions(
            trace=self._trace,
            threads=threads or 0,
            prepare=prepare,
            max_instructions=max_instructions or 0,
            max_memory=max_memory or 0,
            lanes=lanes or 0,
            call_seconds=seconds,
            # Intermediate outputs, and PyTorch's kernels as a reference, refer to the file's calls.
            optimize=optimize and fallback is None and debug_buffer_size == 0,
        )
        self._path: str | None = None
        if isinstance(source, (bytes, bytearray, memoryview)):
            source = _contiguous(source) if isinstance(source, memoryview) else source
            self._program = native.call(self._module, self._module.load_bytes, source, files, options)
        else:
            if load_mode not in _MODES:
                raise ValueError(f"load_mode: expected one of {', '.join(_MODES)}, got {load_mode!r}")
            path, mode = os.fspath(source), _MODES[load_mode]
            load_file = self._module.load_file
            self._program = native.call(self._module, load_file, path, files, mode, options)
            self._path = path
        self._methods: dict[str, Method] = {}
        self._fallback = fallback
        if fallback is not None:
            serve(self._program, self.operator_names(), fallback)

    @property
    def fallback_operators(self) -> dict[str, int]:
        """The operators that PyTorch computes, with the number of calls so far: operators without a kernel in
        this build, and operators with calls that the kernel refused. Empty without `fallback`."""
        own = set() if self._fallback == "aten-first" else set(self._module.operator_names())
        return {name: n for name, n in sorted(self._program.served().items()) if n or name not in own}

    def operator_names(self) -> Iterator[str]:
        """The operators that the methods name. Raises InvalidProgram for a damaged method."""
        for method in self.method_names:
            yield from native.call(self._module, self._program.method_facts, method)["operators"]

    @property
    def method_names(self) -> list[str]:
        """The names in file order."""
        return list(self._program.method_names())

    def metadata(self, method_name: str) -> MethodMeta:
        """The inputs, outputs, attributes and memory of a method, without loading it.

        Raises MethodNotFound, InvalidProgram.
        """
        self._check_name(method_name)
        return MethodMeta(native.call(self._module, self._program.method_facts, method_name))

    def memory(self, method_name: str = "forward") -> MethodMemory:
        """The exact memory that a method will need, on 32- and 64-bit machines. Raises MethodNotFound."""
        return self.metadata(method_name).memory

    def load_method(self, name: str) -> Method:
        """A new instance of the method. Raises MethodNotFound, OperatorNotFound and BackendNotFound (with the
        names of all missing ones), InvalidProgram, OutOfMemory."""
        method = self._loaded(name, lambda: self._program.load_method(name))
        return Method(self._module, name, method, self._program, self._path)

    def rewritten(self, name: str = "forward") -> bytes | None:
        """The program, without its constants, that loading a method makes of it (`optimize`); None if the
        method stays as it is. Raises MethodNotFound."""
        self._check_name(name)
        file: bytes | None = native.call(self._module, self._program.rewritten, name)
        return file

    def load_text_generator(self) -> TextGenerator:
        """A generator over a new instance of the method forward of a language model. Raises as load_method(),
        and InvalidArgument if forward has another signature than language models."""
        return TextGenerator(self._module, self._loaded("forward", self._program.load_text_generator))

    def _loaded(self, name: str, load: Callable[[], Any]) -> Any:
        """Calls `load` for the method `name` and converts its failure."""
        try:
            return load()
        except self._module.RuntimeFailure as failure:
            self._check_name(name)
            error = native.exception(failure, self._module)
            if isinstance(error, OperatorNotFound) and self._fallback is None:
                error.next_step = _FALLBACK_STEP
            if type(error) is InvalidArgument and failure.args[0] == Status.NotFound and not self._has_data:
                error.next_step = _DATA_STEP  # besides backends only tensors are looked up
            raise error from None

    def method(self, name: str) -> Method:
        """The program's own instance of the method, loaded on first use."""
        if name not in self._methods:
            self._methods[name] = self.load_method(name)
        return self._methods[name]

    def run(self, method: str, arrays: Sequence[Any], *, outputs: Outputs = "copy") -> list[Any]:
        """Runs `method` on `arrays`; see Method.execute."""
        return self.method(method).execute(arrays, outputs=outputs)

    def run_async(
        self,
        method: str,
        arrays: Sequence[Any],
        *,
        outputs: Outputs = "copy",
        timeout: float | None = None,
    ) -> Execution:
        """Begins run() in the background; see Method.execute_async."""
        return self.method(method).execute_async(arrays, outputs=outputs, timeout=timeout)

    def forward(self, *arrays: Any) -> list[Any]:
        """Runs the method "forward"."""
        return self.run("forward", arrays)

    @property
    def has_etdump(self) -> bool:
        """True if execution is recorded."""
        return self._trace is not None

    def write_etdump_result_to_file(
        self,
        etdump_path: str | os.PathLike[str],
        debug_buffer_path: str | os.PathLike[str] | None = None,
    ) -> None:
        """Writes an ETDump file of the executions since the last call, and operators' outputs if the program
        was loaded with a debug buffer. The next load or run of a method begins a new file.

        Raises InvalidArgument for a program that was loaded without enable_etdump, OSError.
        """
        if self._trace is None:
            raise InvalidArgument("trace: expected a program loaded with enable_etdump=True, got one without")
        debug = None if debug_buffer_path is None else os.fspath(debug_buffer_path)
        self._trace.write(os.fspath(etdump_path), debug)

    def etdump_loss(self) -> tuple[int, int]:
        """The number of events and of values dropped since the last file because their memory was full."""
        return (0, 0) if self._trace is None else self._trace.lost()

    def _begin_trace(self, debug_buffer_size: int) -> Any:
        if not self._module.build_info()["event_tracing"]:
            raise InvalidArgument(
                "enable_etdump: expected a runtime built with EXECUTORCH_ENABLE_EVENT_TRACER, got one without"
            )
        return self._module.Trace(debug_buffer_size)

    def _check_name(self, name: str) -> None:
        if name not in self.method_names:
            raise MethodNotFound(name, self.method_names)


def load(
    source: ProgramSource,
    *,
    module: ModuleType | None = None,
    data_files: DataFiles = (),
    load_mode: LoadMode = "mmap",
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    threads: int | None = None,
    prepare: bool = True,
    max_instructions: int | None = None,
    max_memory: int | None = None,
    fallback: Fallback | None = None,
    lanes: int | None = None,
    call_seconds: Mapping[str, Sequence[float]] | None = None,
    optimize: bool = True,
) -> Program:
    """Opens and verifies a .pte, a path or its bytes.

    A file is mapped: its weights are used in place, in the system's page cache. Once such a file has been
    overwritten in place, loading and running its methods raises InvalidArgument; a new file that was renamed
    to the path, as save() does it, changes nothing. `load_mode` "file" reads it instead, "mmap-locked" keeps
    its pages in memory (an error if that is not allowed), "mmap-try-locked" tries to. The
    weights in a `bytes` object are used in place, too, and it is kept alive; a bytearray or
    memoryview is copied.

    `data_files` are .ptd files with the program's external tensors. `module` is an extension
    module made by `rushlight.build(..., target="host")`; by default the one of this
    package. `enable_etdump` records executions for Program.write_etdump_result_to_file, and with
    `debug_buffer_size` bytes also operators' outputs; methods then run one after another.

    `threads` is the number of threads, including the caller's, that share the work of kernels; by default
    one per physical core available to this process. Programs with the same number share them; results do
    not depend on it. Executions in the background (Method.execute_async) run on them too. With `prepare`
    kernels pack constant weights when a method is loaded, once for all methods of the program, which takes
    memory for these weights again.

    With several threads, calls that do not depend on each other execute at once, at most `lanes` of them
    (by default one per thread), each with its share of the threads. This is planned when a method is loaded,
    from kernels' estimates or from `call_seconds`, which has for each method's name the measured seconds of
    each instruction (see rushlight.trace). The first executions time each
    alternative, and the faster one stays.
    Results are the same bits; memory is planned for values that then live at the same time. lanes=1 turns
    it off; Method.lanes() tells what was planned.

    With `optimize` a method is rewritten when it is loaded, if that saves work: activations, residuals and
    batch norms become part of layers, decomposed attention and normalization become single calls,
    convolutions run in channels-last, and reshapes cost nothing. Programs of the official exporter gain most.
    Outputs differ in the last digits; Program.rewritten() shows the calls. Methods with state, dynamic
    shapes, control flow or delegates stay as they are, and so do all with `fallback` or `debug_buffer_size`.

    For files of unknown origin: a call that has run `max_instructions` raises OutOfMemory; Ctrl-C stops a
    call or a load before its next instruction in any case. A method that takes more than `max_memory`
    bytes is refused before they are allocated: values, planned buffers, outputs and scratch; weights that do
    not fit in the rest are not packed. Without them there is no limit on instructions, and memory is limited
    to what the machine has.

    `fallback` "aten" lets PyTorch compute operators without a kernel in this build, and calls with dtypes
    that its kernel lacks, in the program's memory; `Program.fallback_operators` lists them. "aten-first" lets
    it compute every operator that it has: a reference to compare with.
    Raises InvalidProgram, InvalidArgument (a file that cannot be read), MissingDependency (`fallback` without
    torch).
    """
    return Program(
        source,
        module,
        data_files=data_files,
        load_mode=load_mode,
        enable_etdump=enable_etdump,
        debug_buffer_size=debug_buffer_size,
        threads=threads,
        prepare=prepare,
        max_instructions=max_instructions,
        max_memory=max_memory,
        fallback=fallback,
        lanes=lanes,
        call_seconds=call_seconds,
        optimize=optimize,
    )
