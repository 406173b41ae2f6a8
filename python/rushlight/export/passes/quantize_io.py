# SPDX-License-Identifier: BSD-3-Clause
"""Converts inputs and outputs to integers: the first quantize and the last dequantize move to the caller."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, TensorArgument
from torch.fx import Node

from rushlight.errors import InvalidArgument
from rushlight.export.dialect import quantized
from rushlight.export.graph.nodes import source_line, value_of
from rushlight.export.graph.rewrite import fake_mode_of, insert_before, replace
from rushlight.export.passes.base import Pass, PassContext
from rushlight.export.passes.compute_in_integers import rewrite_quantize
from rushlight.export.quantized_io import Chosen, MethodQuantization, Numbers, QuantizedIo


class QuantizeIo(Pass):
    """After it has run, `numbers` has the quantization parameters of each integer input and output."""

    name = "quantize_io"
    breaks = frozenset({"dim orders", "no dead code"})

    def __init__(self, wanted: QuantizedIo) -> None:
        self.wanted = wanted
        self.numbers = MethodQuantization({}, {})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass. Errors: InvalidArgument listing the inputs and outputs that are not quantized."""
        io = _Io(program, context, self.wanted.dtype)
        inputs = {
            index: io.quantize_input(index, node, given)
            for index, node, given in io.chosen("input", self.wanted.inputs, io.inputs())
        }
        outputs = {
            index: io.quantize_output(index, given)
            for index, _, given in io.chosen("output", self.wanted.outputs, io.outputs())
        }
        if io.problems:
            raise InvalidArgument(
                "quantize_io:\n  " + "\n  ".join(io.problems),
                next_step="Choose others with rushlight.export.QuantizedIo(inputs=[...], outputs=[...]), or "
                'give parameters: {0: {"scale": ..., "zp": ..., "dtype": ...}}.',
            )
        self.numbers = MethodQuantization(_known(inputs), _known(outputs))
        return bool(inputs or outputs)


class _Io:
    """The inputs and outputs of a program during the rewrite."""

    def __init__(self, program: ExportedProgram, context: PassContext, dtype: str | None) -> None:
        self.program, self.context, self.dtype = program, context, dtype
        self.problems: list[str] = []

    def inputs(self) -> list[Node | None]:
        """The placeholder of each user input; None for one without a tensor."""
        nodes = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        return [nodes.get(str(name)) for name in self.program.graph_signature.user_inputs]

    def outputs(self) -> list[Node | None]:
        """The node of each user output; None for one that is no tensor."""
        listed = self.program.graph.output_node().args[0]
        assert isinstance(listed, (tuple, list))
        return [node if isinstance(node := listed[at], Node) else None for at in self._positions()]

    def chosen(
        self, kind: str, given: Chosen, nodes: list[Node | None]
    ) -> Iterator[tuple[int, Node, Numbers | None]]:
        """(index, node, user's quantization parameters) of the chosen inputs or outputs. Errors:
        InvalidArgument for an index that is no float tensor."""
        floats = {index: node for index, node in enumerate(nodes) if node is not None and _is_float(node)}
        for index in floats if given is None else given:
            if index not in floats:
                raise InvalidArgument(
                    f"quantize_io: {kind} {index} of '{self.context.method}': expected the index of a float "
                    f"tensor, one of {list(floats)}, got {index}"
                )
            described = given[index] if isinstance(given, Mapping) else None
            what = f"quantize_io: {kind} {index}"
            yield index, floats[index], None if described is None else Numbers.given(described, what)

    def quantize_input(self, index: int, node: Node, given: Numbers | None) -> Numbers | None:
        """Converts an input to integers and rewires its readers. Returns its parameters, or None if neither
        user nor graph gives them."""
        readers = list(node.users)
        own = _shared_numbers(readers)
        to = given or own
        if to is None:
            other = next((user for user in readers if _numbers(user, "quantize_per_tensor") is None), None)
            self._refuse(f"input {index}", "quantize as its only reader", other or node)
            return None
        to = given or self._wanted(to)
        real = value_of(node)
        node.meta["val"] = _like(real, to.dtype)
        if to == own:
            for user in readers:
                replace(self.program, user, node)
            return to
        following = node.next
        while following.op == "placeholder":
            following = following.next
        made = insert_before(following, _operator("dequantize_per_tensor"), (node, *_form(to)), value=real)
        for user in readers:
            user.replace_input_with(node, made)
        for user in list(made.users):
            if _numbers(user, "quantize_per_tensor") is not None:
                rewrite_quantize(self.program, self.context, user)
        return to

    def quantize_output(self, index: int, given: Numbers | None) -> Numbers | None:
        """Converts an output to integers. Returns its parameters, or None if neither user nor graph gives
        them."""
        node = self.outputs()[index]
        assert node is not None
        own = _numbers(node, "dequantize_per_tensor")
        to = given or own
        if to is None:
            self._refuse(f"output {index}", "the result of dequantize", node)
            return None
        to = given or self._wanted(to)
        if to == own:
            self._set_output(index, node.all_input_nodes[0])
            return to
        end = self.program.graph.output_node()
        value = _like(value_of(node), to.dtype)
        operator = _operator("quantize_per_tensor")
        made = insert_before(end, operator, (node, *_form(to)), value=value, origin=node)
        self._set_output(index, made)
        rewrite_quantize(self.program, self.context, made)
        return to

    def _wanted(self, own: Numbers) -> Numbers:
        """The model's parameters in the wanted dtype; 16-bit ones as they are."""
        return own.as_dtype(self.dtype) if self.dtype is not None and own.dtype != "int16" else own

    def _set_output(self, index: int, node: Node) -> None:
        position, end = self._positions()[index], self.program.graph.output_node()
        listed = end.args[0]
        assert isinstance(listed, (tuple, list))
        end.args = (tuple(node if at == position else each for at, each in enumerate(listed)),)
        self.program.graph_signature.output_specs[position].arg = TensorArgument(name=node.name)

    def _positions(self) -> list[int]:
        """The indices of the user's outputs among all outputs of the graph."""
        specs = self.program.graph_signature.output_specs
        return [position for position, spec in enumerate(specs) if spec.kind is OutputKind.USER_OUTPUT]

    def _refuse(self, what: str, expected: str, node: Node) -> None:
        line = source_line(node)
        location = f" ({line.file}:{line.line})" if line else ""
        got = node.target._schema.name if isinstance(node.target, OpOverload) else node.name
        self.problems.append(f"{what} of '{self.context.method}': expected {expected}, got {got}{location}")


def _operator(name: str) -> OpOverload:
    """The quantize or dequantize operator; PyTorch registers both when its quantization module is
    imported."""
    importlib.import_module("torch.ao.quantization.fx._decomposed")
    found: OpOverload = getattr(torch.ops.quantized_decomposed, name).default
    return found


def _numbers(node: Node, operator: str) -> Numbers | None:
    """The parameters of a per-tensor quantize or dequantize call; None for other nodes."""
    if not quantized.calls(node, operator) or not isinstance(node.args[1], (int, float)):
        return None
    scale, zero_point, low, high, dtype = node.args[1:6]
    name = str(dtype).removeprefix("torch.")
    if name not in ("int8", "uint8", "int16") or not isinstance(zero_point, int):
        return None
    return Numbers(float(scale), zero_point, int(low), int(high), name)  # type: ignore[arg-type]


def _shared_numbers(readers: list[Node]) -> Numbers | None:
    """The parameters with which all readers quantize; None if they differ or a reader does something else."""
    found = {_numbers(user, "quantize_per_tensor") for user in readers}
    return found.pop() if len(found) == 1 else None


def _form(numbers: Numbers) -> tuple[Any, ...]:
    low, high, dtype = numbers.quant_min, numbers.quant_max, getattr(torch, numbers.dtype)
    return numbers.scale, numbers.zero_point, low, high, dtype


def _is_float(node: Node) -> bool:
    value = value_of(node)
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def _like(value: Any, dtype: str) -> Any:
    with fake_mode_of(value):
        return torch.empty_like(value, dtype=getattr(torch, dtype))


def _known(numbers: Mapping[int, Numbers | None]) -> dict[int, Numbers]:
    return {index: each for index, each in numbers.items() if each is not None}
