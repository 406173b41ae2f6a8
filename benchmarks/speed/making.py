# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files that contestants load: inputs and eager outputs of a subject, and the model in each form.

Runs in a worker of the environment that has the packages.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from networks import Made, make
from quantized import by_xnnpack_quantizer, quantize_onnx, with_rushlight
from subjects import INT8, SUBJECTS
from torch.utils.flop_counter import FlopCounterMode


def quiet() -> None:
    """Suppresses the warnings of exporters."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def _arrays(tensors: Any) -> list[np.ndarray]:
    return [each.detach().numpy() for each in (tensors if isinstance(tensors, tuple) else (tensors,))]


def _bytes(tensors: Any) -> int:
    return sum(tensor.nbytes for tensor in tensors)


def make_subject(name: str, folder: Path) -> None:
    """Writes inputs.npz, expected.npz and subject.json: the name, operations (a multiplication and an
    addition count as two), and bytes of inputs, weights and outputs."""
    module, args = make(SUBJECTS[name])
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        outputs = module(*args)
    expected = _arrays(outputs)
    np.savez(folder / "inputs.npz", *_arrays(args))
    np.savez(folder / "expected.npz", *expected)
    size = _bytes(args) + _bytes(expected)
    # An embedding reads only the selected rows.
    size += (
        _bytes(expected) if isinstance(module, torch.nn.Embedding) else _bytes(module.state_dict().values())
    )
    facts = {"name": name, "flops": counter.get_total_flops(), "bytes": size}
    (folder / "subject.json").write_text(json.dumps(facts))


def _rushlight(made: Made, path: Path) -> None:
    import rushlight.export

    rushlight.export(*made, plan_inputs=False).save(path)


def _official_options() -> Any:
    """Options under which inputs are used in place, as in rushlight's programs; by default each call copies
    them."""
    from executorch.exir import ExecutorchBackendConfig
    from executorch.exir.passes import MemoryPlanningPass

    return ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False))


def _official(made: Made, path: Path) -> None:
    from executorch.exir import to_edge

    with torch.no_grad():
        edge = to_edge(torch.export.export(*made, strict=False))
        program = edge.to_executorch(_official_options())
    path.write_bytes(program.buffer)


def _xnnpack(made: Made, path: Path) -> None:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    exported = torch.export.export(*made, strict=False)
    with torch.no_grad():
        edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        program = edge.to_executorch(_official_options())
    if not program.executorch_program.execution_plan[0].delegates:
        raise ValueError("XNNPACK: expected an operator that it supports, got none")
    path.write_bytes(program.buffer)


def _onnx(made: Made, path: Path) -> None:
    torch.onnx.export(*made, dynamo=True, verbose=False).save(path)


def _script_onnx(made: Made, path: Path) -> None:
    torch.onnx.export(*made, path, dynamo=False)


def _official_int8(made: Made, path: Path) -> None:
    import executorch.kernels.quantized  # noqa: F401  # registers the operators' out variants

    _official(by_xnnpack_quantizer(made), path)


def _onnx_int8(made: Made, path: Path) -> None:
    _onnx(made, path)
    quantize_onnx(made, path)


def _script_onnx_int8(made: Made, path: Path) -> None:
    _script_onnx(made, path)
    quantize_onnx(made, path)


MAKERS: dict[str, Callable[[Made, Path], None]] = {
    "rushlight.pte": _rushlight,
    "official.pte": _official,
    "xnnpack.pte": _xnnpack,
    "model.onnx": _onnx,
    "script.onnx": _script_onnx,
}
INT8_MAKERS: dict[str, Callable[[Made, Path], None]] = {
    "rushlight.pte": with_rushlight,
    "official.pte": _official_int8,
    "xnnpack.pte": lambda made, path: _xnnpack(by_xnnpack_quantizer(made), path),
    "model.onnx": _onnx_int8,
    "script.onnx": _script_onnx_int8,
}


def make_file(name: str, folder: Path, file: str) -> None:
    """Writes one form of the model. Errors: those raised by its exporter."""
    quiet()
    makers = INT8_MAKERS if name in INT8 else MAKERS
    makers[file](make(SUBJECTS[name]), folder / file)
