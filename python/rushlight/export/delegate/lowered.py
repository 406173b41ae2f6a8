# SPDX-License-Identifier: BSD-3-Clause
"""The representation of a delegated part in a graph: `call_delegate(lowered_module, *inputs)`.

`lowered_module` is a get_attr node of a `LoweredBackendModule`; `meta["val"]` of the call is the tuple of
its outputs, which `operator.getitem` nodes extract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import torch
from torch._ops import HigherOrderOperator
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind
from torch.fx import GraphModule, Node
from torch.fx.node import has_side_effect

from rushlight.export.delegate.bodies import get_control_flow_submodules
from rushlight.export.delegate.interface import CompileSpec
from rushlight.export.delegate.named_data import DataEntry, NamedDataStoreOutput
from rushlight.export.graph.constants import stored_tensor


class LoweredBackendModule(torch.nn.Module):
    """A part of a program compiled by a backend. Calling it executes the original part in PyTorch."""

    def __init__(
        self,
        edge_program: ExportedProgram,
        backend_id: str,
        processed_bytes: bytes,
        compile_specs: list[CompileSpec],
        named_data_store_output: NamedDataStoreOutput | None = None,
    ) -> None:
        super().__init__()
        self.original_module = edge_program
        self.backend_id = backend_id
        self.processed_bytes = processed_bytes
        self.compile_specs = compile_specs
        self.named_data_store_output = named_data_store_output
        self.meta: dict[str, Any] = {}
        self._state: dict[str, torch.Tensor] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> LoweredBackendModule:
        copied = LoweredBackendModule(
            self.original_module,
            self.backend_id,
            self.processed_bytes,
            list(self.compile_specs),
            self.named_data_store_output,
        )
        copied.meta = dict(self.meta)
        return copied

    @property
    def named_data(self) -> dict[str, bytes]:
        """The blobs that the delegate reads from the program file, by name."""
        store = self.named_data_store_output
        return {} if store is None else self._blobs(store.pte_data)

    @property
    def external_data(self) -> dict[str, bytes]:
        """The blobs that it reads from data files, by name, with the files merged."""
        store = self.named_data_store_output
        files = {} if store is None else store.external_data
        return {key: blob for names in files.values() for key, blob in self._blobs(names).items()}

    def _blobs(self, names: Mapping[str, DataEntry]) -> dict[str, bytes]:
        assert self.named_data_store_output is not None
        buffers = self.named_data_store_output.buffers
        return {key: bytes(buffers[entry.buffer_index]) for key, entry in names.items()}

    def forward(self, *args: Any) -> tuple[Any, ...]:
        """Computes the outputs in PyTorch. Buffers that the delegate owns keep their values in this module
        between calls."""
        program = self.original_module
        given = iter(args)
        inputs = [
            next(given) if spec.kind is InputKind.USER_INPUT else self._constant(spec)
            for spec in program.graph_signature.input_specs
        ]
        results = program.graph_module(*inputs)
        outputs = []
        for spec, result in zip(program.graph_signature.output_specs, results, strict=True):
            if spec.kind is OutputKind.BUFFER_MUTATION:
                self._state[spec.target] = result.detach().clone()
            else:
                outputs.append(result)
        return tuple(outputs)

    def _constant(self, spec: InputSpec) -> torch.Tensor:
        state = self._state.get(spec.target or "")
        return stored_tensor(self.original_module, spec) if state is None else state


class _CallDelegate(HigherOrderOperator):
    def __init__(self) -> None:
        super().__init__("rushlight_call_delegate")

    def __call__(self, lowered_module: LoweredBackendModule, *args: Any) -> tuple[Any, ...]:
        outputs: tuple[Any, ...] = lowered_module(*args)
        return outputs


# The delegate may own state: dead-code elimination must keep a call whose outputs are unused.
call_delegate = has_side_effect(_CallDelegate())


def delegate_calls(graph_module: GraphModule) -> Iterator[tuple[Node, LoweredBackendModule]]:
    """The delegate calls of a graph and of the bodies of its control flow, with their modules."""
    for node in graph_module.graph.nodes:
        if node.target is call_delegate:
            yield node, cast(LoweredBackendModule, graph_module.get_submodule(node.args[0].target))
    for _, body, _ in get_control_flow_submodules(graph_module):
        yield from delegate_calls(body)
