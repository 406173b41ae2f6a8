# SPDX-License-Identifier: BSD-3-Clause
"""Constants of an ExportedProgram: parameters, buffers that nothing writes, tensors created in the model's
code."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind, TensorArgument
from torch.fx import Node

_STATE = {InputKind.PARAMETER, InputKind.BUFFER}
_LIFTED = {*_STATE, InputKind.CONSTANT_TENSOR}


def input_specs(program: ExportedProgram) -> dict[str, InputSpec]:
    """The input spec of each placeholder, by the placeholder's name."""
    specs = program.graph_signature.input_specs
    placeholders = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    return dict(zip(placeholders, specs, strict=True))


def is_lifted(spec: InputSpec) -> bool:
    """True if the placeholder is a tensor of the program itself: parameter, buffer or constant."""
    return spec.kind in _LIFTED


def mutated_targets(program: ExportedProgram) -> set[str]:
    """The targets of the parameters and buffers that an execution changes."""
    kinds = {OutputKind.BUFFER_MUTATION, getattr(OutputKind, "PARAMETER_MUTATION", None)}
    return {
        spec.target for spec in program.graph_signature.output_specs if spec.kind in kinds and spec.target
    }


def stored_tensor(program: ExportedProgram, spec: InputSpec) -> torch.Tensor:
    """The tensor of a lifted placeholder. Errors: KeyError if the program lacks it."""
    assert spec.target is not None
    if spec.kind in _STATE and spec.target in program.state_dict:
        state: torch.Tensor = program.state_dict[spec.target]
        return state
    constant: torch.Tensor = program.constants[spec.target]
    return constant


class Constants:
    """The constants of one program. Create a new instance after other code changed the program's
    placeholders."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        mutated = mutated_targets(program)
        self._specs = {
            name: spec
            for name, spec in input_specs(program).items()
            if is_lifted(spec) and spec.target not in mutated
        }
        self._insertion: tuple[int, Node] | None = None
        self._mode: FakeTensorMode | None = None

    def get(self, node: Any) -> torch.Tensor | None:
        """The tensor of a placeholder that never changes; None for any other node or value."""
        if not isinstance(node, Node) or node.op != "placeholder" or node.name not in self._specs:
            return None
        return stored_tensor(self.program, self._specs[node.name])

    def name_of(self, node: Node) -> str:
        """The name of a constant in the model ("encoder.weight")."""
        return self._specs[node.name].target or node.name

    def add(self, tensor: torch.Tensor, name: str) -> Node:
        """Adds a placeholder for a tensor to the top graph; `name` is made unique."""
        graph, target, count = self.program.graph, name, 0
        while target in self.program.state_dict or target in self.program.constants:
            count += 1
            target = f"{name}_{count}"
        position, before = self._next_index()
        with graph.inserting_before(before):
            node: Node = graph.placeholder(f"c_{target}".replace(".", "_"))
        node.target = node.name
        node.meta["val"] = self._fake(tensor)
        spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(name=node.name), target, None)
        self.program.graph_signature.input_specs.insert(position, spec)
        self.program.constants[target] = tensor.detach()
        self._specs[node.name] = spec
        self._insertion = position + 1, before
        return node

    def _next_index(self) -> tuple[int, Node]:
        """The index among the inputs for the next constant, and the node to insert it before."""
        if self._insertion is None or self._insertion[1]._erased:
            position = _after_lifted(self.program.graph_signature.input_specs)
            placeholders = [n for n in self.program.graph.nodes if n.op == "placeholder"]
            first_call = next(n for n in self.program.graph.nodes if n.op != "placeholder")
            self._insertion = position, [*placeholders, first_call][position]
        return self._insertion

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        if self._mode is None:
            values = (node.meta.get("val") for node in self.program.graph.nodes)
            self._mode = next((v.fake_mode for v in values if isinstance(v, FakeTensor)), FakeTensorMode())
        # Faster than creating the tensor inside the mode, which dispatches for the device.
        shape = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        return FakeTensor(self._mode, shape, torch.device("cpu"))

    def remove_unused(self) -> bool:
        """Removes constants without readers. Returns True if there were any."""
        graph, signature = self.program.graph, self.program.graph_signature
        gone = [n for n in graph.nodes if n.op == "placeholder" and n.name in self._specs and not n.users]
        names = {node.name for node in gone}
        self._insertion = None
        for node in gone:
            graph.erase_node(node)
            self._specs.pop(node.name)
        signature.input_specs[:] = [s for s in signature.input_specs if _argument_name(s) not in names]
        kept = {spec.target for spec in signature.input_specs}
        for store in (self.program.state_dict, self.program.constants):
            for target in [t for t in store if t not in kept and isinstance(store[t], torch.Tensor)]:
                del store[target]
        return bool(gone)


def _argument_name(spec: InputSpec) -> str:
    return getattr(spec.arg, "name", "")


def _after_lifted(specs: list[InputSpec]) -> int:
    """The index for a new constant: after the lifted placeholders, before the user's inputs."""
    lifted = [index for index, spec in enumerate(specs) if is_lifted(spec)]
    return lifted[-1] + 1 if lifted else 0
