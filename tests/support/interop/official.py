# SPDX-License-Identifier: BSD-3-Clause
"""Writes programs with the official package: from modules with example calls to folders as README.md says."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.runtime import Runtime
from torch import nn
from torch.export import ExportedProgram

DELEGATED = "model_xnnpack.pte"
MADE_WITH = "executorch 1.5.1, torch 2.13.0"
DELEGATED_NOTE = "lowered to XnnpackBackend; expected is what the official runtime gives"
XNNPACK_NOTE = "model.pte has no delegate; model_xnnpack.pte is the same network lowered to XnnpackBackend"

Arguments = tuple[Any, ...]


@dataclass
class Entry:
    """A method: a module, its calls in order (it is exported with the first one), its dynamic shapes as
    torch.export takes them, and keyword arguments of each call."""

    module: nn.Module
    calls: list[Arguments]
    dynamic_shapes: Any = None
    kwargs: dict[str, Any] | None = None


INT8_TOLERANCE = 5e-3
"""Tolerance of quantized networks: more than one step of an 8-bit softmax, less than two."""


def tolerance_of(dtype: torch.dtype) -> float:
    """About one unit in the last place for 16-bit types; for float32 and float64 the rounding errors of a
    network's sums."""
    return {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float64: 1e-13}.get(dtype, 1e-5)


@dataclass
class Case:
    """Methods and their export settings. `prepare` converts an exported module into the one to lower
    (quantization); the program must return its eager outputs or, with `expects_lowered`, the outputs of
    the graph that `transform` returns. `backend` creates the settings of the last step, which hold state.
    With `delegated` only the program lowered to XNNPACK is written, and it must return the official
    runtime's outputs; so must the result of `make_program`, which replaces these steps if the official
    package has its own flow from a model to a program. It takes a folder for intermediate files."""

    methods: dict[str, Entry]
    tolerance: float = 1e-5
    note: str = ""
    xnnpack: bool = False
    delegated: bool = False
    make_program: Callable[[Path], bytes] | None = None
    constant_methods: dict[str, Any] | None = None
    prepare: Callable[[nn.Module, Arguments], nn.Module] | None = None
    expects_lowered: bool = False
    edge: EdgeCompileConfig = field(default_factory=EdgeCompileConfig)
    transform: Callable[[EdgeProgramManager], EdgeProgramManager] = lambda edge: edge
    backend: Callable[[], ExecutorchBackendConfig] = ExecutorchBackendConfig

    @property
    def expects_runtime(self) -> bool:
        """True if the expected values come from the official runtime."""
        return self.delegated or self.make_program is not None

    @property
    def file(self) -> str:
        """The name of the first program."""
        return DELEGATED if self.delegated else "model.pte"


def one(module: nn.Module, *calls: Arguments, dynamic_shapes: Any = None, **settings: Any) -> Case:
    """A case of one method, "forward"."""
    return Case({"forward": Entry(module, list(calls), dynamic_shapes)}, **settings)


def export(entry: Entry, module: nn.Module | None = None) -> ExportedProgram:
    """The entry as an exported program; `module` replaces the entry's own."""
    return torch.export.export(
        module or entry.module,
        entry.calls[0],
        kwargs=entry.kwargs,
        dynamic_shapes=entry.dynamic_shapes,
        strict=False,
    )


def write_case(name: str, case: Case, folder: Path) -> None:
    """Writes the case's folder: programs, external constants, tensors.npz and case.json."""
    folder.mkdir(parents=True, exist_ok=True)
    if case.make_program:
        with tempfile.TemporaryDirectory() as scratch:
            (folder / case.file).write_bytes(case.make_program(Path(scratch)))
        write_calls(name, case, [case.file], folder)
        return
    for entry in case.methods.values():
        entry.module.eval()
        if case.prepare:
            # Guards of the example's sizes would refuse the calibration inputs.
            entry.module = case.prepare(export(entry).module(check_guards=False), entry.calls[0])
    exported = {method: export(entry) for method, entry in case.methods.items()}
    if case.delegated:
        write_calls(name, case, _write_delegated(exported, folder), folder)
        return
    lowered = to_lower(case, exported)
    if case.expects_lowered:
        for method, entry in case.methods.items():
            entry.module = lowered.exported_program(method).module()
    write_calls(name, case, _write_programs(case, lowered, exported, folder), folder)


def write_calls(name: str, case: Case, files: list[str], folder: Path) -> None:
    """Writes tensors.npz and case.json, which names `files`."""
    arrays: dict[str, np.ndarray] = {}
    program = Runtime.get().load_program(folder / case.file) if case.expects_runtime else None
    methods = {method: _calls(method, entry, arrays, program) for method, entry in case.methods.items()}
    description = {
        "name": name,
        "made_with": MADE_WITH,
        "expected_from": _expected_from(case),
        "tolerance": case.tolerance,
        "note": case.note or _note(case),
        "files": files,
        "methods": methods,
    }
    (folder / "case.json").write_text(json.dumps(description, indent=1) + "\n")
    np.savez_compressed(folder / "tensors.npz", **arrays)


def _expected_from(case: Case) -> str:
    if case.expects_runtime:
        return "the official runtime"
    return "the lowered graph in PyTorch" if case.expects_lowered else "PyTorch eager"


def _note(case: Case) -> str:
    if case.delegated:
        return DELEGATED_NOTE
    return XNNPACK_NOTE if case.xnnpack else ""


def to_lower(case: Case, exported: dict[str, ExportedProgram]) -> EdgeProgramManager:
    """The graph that is lowered to the program without a delegate."""
    edge = to_edge(exported, constant_methods=case.constant_methods, compile_config=case.edge)
    return case.transform(edge)


def lower(case: Case, exported: dict[str, ExportedProgram]) -> ExecutorchProgramManager:
    """The program without a delegate."""
    return to_lower(case, exported).to_executorch(case.backend())


def _write_delegated(exported: dict[str, ExportedProgram], folder: Path) -> list[str]:
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    (folder / DELEGATED).write_bytes(lowered.to_executorch().buffer)
    return [DELEGATED]


def _write_programs(
    case: Case, lowered: EdgeProgramManager, exported: dict[str, ExportedProgram], folder: Path
) -> list[str]:
    program = lowered.to_executorch(case.backend())
    (folder / "model.pte").write_bytes(program.buffer)
    program.write_tensor_data_to_file(str(folder))
    unnamed = folder / "_default_external_constant.ptd"
    if unnamed.is_file():
        unnamed.rename(folder / "weights.ptd")
    files = ["model.pte", *sorted(path.name for path in folder.glob("*.ptd"))]
    return files + _write_delegated(exported, folder) if case.xnnpack else files


def _calls(
    method: str, entry: Entry, arrays: dict[str, np.ndarray], program: Any = None
) -> list[dict[str, list[Any]]]:
    """The calls as case.json has them, made in order on one module, which keeps its state, or on the official
    program; their tensors go into `arrays`."""
    module = copy.deepcopy(entry.module)
    loaded = program and program.load_method(method)
    described = []
    for index, inputs in enumerate(entry.calls):
        kwargs = entry.kwargs or {}
        given = _stored(f"{method}.{index}.input", (inputs, kwargs), arrays)
        with torch.no_grad():
            given_away = copy.deepcopy(inputs), copy.deepcopy(kwargs)
            outputs = loaded.execute(list(inputs)) if loaded else module(*given_away[0], **given_away[1])
        described.append({"inputs": given, "outputs": _stored(f"{method}.{index}.output", outputs, arrays)})
    return described


def _stored(prefix: str, tree: Any, arrays: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    leaves = torch.utils._pytree.tree_leaves(tree)
    return [_store(f"{prefix}{index}", leaf, arrays) for index, leaf in enumerate(leaves)]


def _store(key: str, value: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if not isinstance(value, torch.Tensor):
        return {"value": value}
    bits = value.view(torch.uint16) if value.dtype is torch.bfloat16 else value
    arrays[key] = bits.detach().contiguous().numpy().copy()
    return {"key": key, "dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
