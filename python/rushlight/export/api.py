# SPDX-License-Identifier: BSD-3-Clause
"""The exporter's entry point: `export` compiles models to programs.

Per method: torch.export, decomposition to Core ATen, passes to the edge dialect, delegation, lowering to
the runtime's instructions, memory planning, emission. Delegation takes all methods at once, so that a
backend can share data among them.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torch.export import ExportedProgram

from rushlight import targets
from rushlight.errors import ExportFailed, InvalidArgument
from rushlight.export.delegate import delegate
from rushlight.export.exported import Exported
from rushlight.export.frontend.collection import collection_paused
from rushlight.export.frontend.decompositions import (
    affine_operators,
    decomposition_table,
    recurrent_layers,
)
from rushlight.export.frontend.libraries import library_for
from rushlight.export.frontend.registration import register_custom_operators
from rushlight.export.frontend.tracing import method_sources, traced
from rushlight.export.graph.nodes import source_line
from rushlight.export.lower.data import TensorPool
from rushlight.export.lower.forward_copies import forward_copies
from rushlight.export.lower.method import Placement, lower_method
from rushlight.export.lower.problems import raise_if_any
from rushlight.export.lower.promise import broken_promises
from rushlight.export.options import MethodSource, Options
from rushlight.export.passes import PassContext
from rushlight.export.passes.compute_in_integers import WholeLayers
from rushlight.export.passes.quantize_io import QuantizeIo
from rushlight.export.passes.recurrent_layers import RecurrentLayers
from rushlight.export.passes.remove_assertions import RemoveAssertions
from rushlight.export.pipeline import (
    PassRunner,
    core_aten_passes,
    delegated_passes,
    numbering_passes,
    user_passes,
)
from rushlight.export.quantized_io import MethodQuantization, QuantizedIo, metadata_methods
from rushlight.export.report.bundle import with_quantized_io
from rushlight.export.report.capacity import check_capacity
from rushlight.export.report.report import MethodReport, Report
from rushlight.lowered.emit import Emitter, Pools
from rushlight.lowered.in_place import reuse_inputs
from rushlight.lowered.instructions import LoweredMethod
from rushlight.lowered.planning import Planned, plan_memory
from rushlight.memory import read_banks
from rushlight.program.model import Method


@collection_paused()
def export(
    module: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    *,
    constant_methods: Mapping[str, Any] | None = None,
    **options: Any,
) -> Exported:
    """Exports a model to a program whose every instruction the runtime can execute.

    Args:
        module: a torch.nn.Module in the state to export (usually after .eval()), or an ExportedProgram.
            For several methods, a mapping from method name to either of them or to MethodSource.
        args, kwargs: example inputs of the module. The program's inputs have their dtypes, sizes and
            dim orders, except for dynamic dimensions.
        dynamic_shapes: as torch.export.export takes it; every dynamic dimension needs an upper bound.
        constant_methods: methods without inputs that return the given value: an int, float, bool, string,
            tensor, or a tuple of those.
        options: the fields of `rushlight.export.Options`:
            target: a name from `rushlight targets`; the program has to fit its memory.
            built: the operators of a build with their dtypes (BuildResult.selection); the program may
                call no others.
            backends: the ids of the backends in the build; None skips this check.
            runtime: "rushlight", or "executorch" to use only operators that the official package has.
            passes: additional passes, keyed by the points of `rushlight.export.pipeline.POINTS`.
            keep: ATen operators not to decompose.
            memory: a file, mapping or list of memory banks; `planner` names the planner.
            plan_inputs, plan_outputs: True puts inputs and outputs into the arena; False leaves their
                memory to the caller.
            partitioner: a Partitioner or several, which assign subgraphs to backends.
            external: True stores all constants in a data file (.ptd); a function of the constant's name
                chooses some.
            strict: trace with TorchDynamo, as torch.export's argument.
            operators: an OperatorLibrary to use instead of the runtime's.
            custom_ops: the out overloads of custom operators: kernel libraries, which are registered
                with PyTorch (`register_custom_operators`), YAML files in ExecuTorch's form, or schemas.
            channels_last: run convolutions and the operators between them channels-last where that
                needs few copies: True, False, or "auto". "auto" is True for runtime="rushlight", but
                covers integer convolutions only if target is a RISC-V board. Inputs and outputs keep the
                dim orders of the example inputs.
            quantize_io: True makes inputs and outputs the integers that the model quantizes them to;
                "int8" or "uint8" also sets their dtype; a QuantizedIo chooses single inputs and outputs,
                with their quantization parameters. The methods "input0_scale", "input0_zp",
                "output0_scale", ... return the parameters.
            fallback: "aten" also takes operators and dtypes without a kernel, which PyTorch computes where
                the program is loaded with fallback="aten". An operator with a decomposition is decomposed,
                unless `keep` has it.
            progress: called with the name of each step and the completed share, from 0 to 1.

    Errors: NotExportable listing each node that cannot run, with its source line, operator, dtype and a
    remedy; OutOfMemory if a plan does not fit; ExportFailed if PyTorch cannot trace the model or a pass
    fails; InvalidArgument.

    Example:
        exported = rushlight.export(model.eval(), (torch.zeros(1, 28, 28),))
        exported.save("model.pte")
    """
    try:
        chosen = Options(**options)
    except TypeError as error:
        raise InvalidArgument(f"export: {error}") from error
    if chosen.target is not None:
        targets.get(chosen.target)  # fails before the work if the name is unknown
    register_custom_operators(each for each in chosen.custom_ops if "(" not in os.fspath(each))
    sources = method_sources(module, args, kwargs, dynamic_shapes, constant_methods)
    start = time.perf_counter()
    pools, methods, reports = Pools(TensorPool(), TensorPool()), [], []
    workers = [
        _MethodExport(name, source, chosen, (index, len(sources)))
        for index, (name, source) in enumerate(sources.items())
    ]
    for worker in workers:
        worker.prepare()
    _delegate(workers, chosen)
    for worker in workers:
        method, report = worker.finish(pools)
        methods.append(method)
        reports.append(report)
    methods += _metadata(reports, sources)
    sources = {report.name: with_quantized_io(sources[report.name], report.numbers) for report in reports}
    exported = Exported.of(methods, pools, Report(reports, time.perf_counter() - start), sources)
    if chosen.target is not None:
        check_capacity(exported, chosen.target)
    return exported


def _metadata(reports: Sequence[MethodReport], sources: Mapping[str, MethodSource]) -> list[Method]:
    """Methods that return scale and zero point of each quantized input and output. Errors: InvalidArgument if
    the user gave a method of the same name."""
    made = [each for report in reports for each in metadata_methods(report.name, report.numbers)]
    for each in made:
        if each.name in sources:
            raise InvalidArgument(
                f"quantize_io: expected no method '{each.name}', got one: it is for metadata"
            )
    return made


_EDGE = 0.7  # the share of a method's work until the edge dialect is reached


class _MethodExport:
    """Exports one method: from the model to the program's method."""

    def __init__(self, name: str, source: MethodSource, options: Options, position: tuple[int, int]) -> None:
        self.name, self.source, self.options, self.position = name, source, options, position
        self.library = library_for(options)
        self.runner = PassRunner(PassContext(self.library, name))
        self.passes = user_passes(options.passes)
        self.seconds: dict[str, float] = {}
        self.program: ExportedProgram

    def prepare(self) -> None:
        """Brings the model to the edge dialect and stores it as `program`."""
        passes = self.passes
        program = self.step("torch.export", 0.0, lambda: traced(self.source, self.options))
        self.runner.run(passes["aten"], program)
        for partitioner in _partitioners(self.options):
            transform = getattr(partitioner, "transform_for_pre_decomposition", None)
            program = program if transform is None else transform(program)
        program = self.step("decompositions", 0.3, lambda: self._decomposed_whole(program))
        self.runner.run(passes["core_aten"], program)
        self.step("passes", 0.6, lambda: self.runner.run(core_aten_passes(), program))
        self.runner.run([*passes["edge"], *numbering_passes()], program)
        self.program = program

    def finish(self, pools: Pools) -> tuple[Any, MethodReport]:
        """Lowers, plans and emits the method; adds its constants to `pools`."""
        program = self.program
        chosen = self.options
        wanted = QuantizedIo.of(chosen.quantize_io)
        ends = None if wanted is None else QuantizeIo(wanted)
        last = delegated_passes(chosen.channels_last_for, ends)
        self.runner.run([*self.passes["delegated"], *last], program)
        lowered, problems = self.step("lowering", 0.75, lambda: self._lowered(program))
        raise_if_any(problems, self.name)
        planned = self.step("memory planning", 0.85, lambda: self._planned(lowered))
        emitter = Emitter(lowered, planned.memory_map, pools)
        method = self.step("emission", 0.9, emitter.method)
        report = MethodReport(
            self.name,
            method,
            planned.plan,
            self.runner.done,
            self.seconds,
            emitter.origins,
            self.runner.context.remarks,
            MethodQuantization({}, {}) if ends is None else ends.numbers,
            self.runner.context.arithmetic,
        )
        return method, report

    def step(self, what: str, share: float, work: Callable[[], Any]) -> Any:
        """Executes one step of the work and records its seconds. `share` is the part of this method's work
        done before the step. All methods reach the edge dialect before the first one continues."""
        if self.options.progress:
            index, count = self.position
            behind = index * _EDGE if share < _EDGE else count * _EDGE + index * (1 - _EDGE) - _EDGE
            self.options.progress(f"{self.name}: {what}", (behind + share) / count)
        start = time.perf_counter()
        result = work()
        self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - start
        return result

    def _decomposed_whole(self, program: ExportedProgram) -> ExportedProgram:
        """The program in Core ATen. torchao's operators and recurrent layers stay whole until passes have
        fused them into layers of the runtime; with partitioners they are decomposed, because backends
        match layers themselves."""
        if _partitioners(self.options):
            return self._decomposed(program)
        whole = [*affine_operators(), *recurrent_layers()]
        program = self._decomposed(program, whole)
        self.runner.run([RemoveAssertions(), WholeLayers(), RecurrentLayers()], program)
        rest = any(node.target in whole for node in program.graph.nodes)
        return self._decomposed(program) if rest else program

    def _decomposed(self, program: ExportedProgram, whole: Sequence[Any] = ()) -> ExportedProgram:
        keep = [*self.options.keep, *_kept_by_partitioners(self.options, program), *whole]
        table = decomposition_table(self.library, keep, for_backends=bool(_partitioners(self.options)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            try:
                result: ExportedProgram = program.run_decompositions(table)
            except Exception as error:
                raise ExportFailed(f"method '{self.name}': decomposing: {error}") from error
        # Passes add and remove constants: the dictionaries are copied so that the model's own do not change.
        result._state_dict = dict(result.state_dict)
        result._constants = dict(result.constants)
        return result

    def _lowered(self, program: ExportedProgram) -> Any:
        placement = Placement(self.options.plan_inputs, self.options.plan_outputs, self.options.is_external)
        method, problems = lower_method(program, self.library, self.name, placement)
        problems += broken_promises(method, self.library.table, self.options.built, self.options.backends)
        if not problems:
            forward_copies(method, self.library)
            reuse_inputs(method, self.library.has_trait)
        return method, problems

    def _planned(self, method: LoweredMethod) -> Planned:
        given = self.options.memory
        banks = None if given is None else read_banks(given)
        return plan_memory(method, banks, self.options.planner, lambda node: str(source_line(node) or ""))


def _delegate(workers: Sequence[_MethodExport], options: Options) -> None:
    """Applies the partitioners to all methods: a backend receives all its parts in one call."""
    programs = {worker.name: worker.program for worker in workers}
    for partitioner in _partitioners(options):
        chosen = dict.fromkeys(programs, partitioner)
        workers[0].step("delegation", _EDGE, partial(delegate, programs, chosen))


def _partitioners(options: Options) -> list[Any]:
    given = options.partitioner
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _kept_by_partitioners(options: Options, program: ExportedProgram) -> list[Any]:
    """Operators that partitioners want undecomposed. If a partitioner has a filter, an operator is kept if
    the filter accepts at least one of its calls."""
    kept = []
    for partitioner in _partitioners(options):
        names = getattr(partitioner, "ops_to_not_decompose", None)
        operators, accepts = ([], None) if names is None else names(program)
        called = [node for node in program.graph.nodes if node.op == "call_function"]
        wanted = {node.target for node in called if accepts is None or accepts(node)}
        kept += [operator for operator in operators if accepts is None or operator in wanted]
    return kept
