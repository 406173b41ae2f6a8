# SPDX-License-Identifier: BSD-3-Clause
"""Generates a method's instructions as C++ statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from rushlight.codegen.bake import literals
from rushlight.codegen.bake.calls import Arguments, TensorLists
from rushlight.codegen.bake.plan import NUMBERS, tensor_uses
from rushlight.codegen.bake.tensors import MethodTensors
from rushlight.codegen.emit import selected_name
from rushlight.codegen.schema import Argument
from rushlight.codegen.table import OperatorTable
from rushlight.program.debug import MethodOrigins
from rushlight.program.model import Instruction, JumpFalse, KernelCall, Kind, Move

_LEAST_SHARED = 8
"""The number of constant arguments that a shared function must save to be worth its own instructions."""


@dataclass(frozen=True)
class _Call:
    """A kernel and its arguments: constants, and tensors with the types of their parameters."""

    kernel: str
    passed: tuple[str, ...]
    types: tuple[str, ...]  # empty for constants

    @property
    def key(self) -> tuple[str, ...]:
        """A key that is equal for calls that differ only in their tensors."""
        pairs = zip(self.passed, self.types, strict=True)
        return (self.kernel, *(kind or text for text, kind in pairs))

    @property
    def tensors(self) -> list[str]:
        """The arguments that are tensors."""
        return [text for text, kind in zip(self.passed, self.types, strict=True) if kind]


@dataclass
class _SharedCalls:
    """Functions for calls that differ only in their tensors, as equal layers' calls do: the constants, a
    dozen for a convolution, are passed in one piece of code."""

    names: dict[tuple[str, ...], str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def add(self, calls: Sequence[_Call]) -> None:
        """Adds functions for calls that occur often enough."""
        counts = Counter(call.key for call in calls)
        for call in calls:
            constants = len(call.types) - len(call.tensors) if call.tensors else 0
            if call.key not in self.names and (counts[call.key] - 1) * constants >= _LEAST_SHARED:
                self.names[call.key] = f"call{len(self.names)}"
                self.lines += self._function(self.names[call.key], call)

    @staticmethod
    def _function(name: str, call: _Call) -> list[str]:
        numbered = [f"a{position}" if kind else "" for position, kind in enumerate(call.types)]
        parameters = [f"{kind} {one}" for kind, one in zip(call.types, numbered, strict=True) if kind]
        passed = [one or text for one, text in zip(numbered, call.passed, strict=True)]
        return [
            f"[[gnu::noinline]] rl::Error {name}(rl::KernelContext& context, {', '.join(parameters)}) {{",
            f"return {call.kernel}({', '.join(['context', *passed])});",
            "}",
        ]

    def expression(self, call: _Call, context: str) -> str:
        """The call of the kernel, or of its shared function."""
        name = self.names.get(call.key)
        if name is None:
            return f"{call.kernel}({', '.join([context, *call.passed])})"
        return f"{name}({', '.join([context, *call.tensors])})"


@dataclass
class Body:
    """Generates the function that executes a method. `context` is the expression for the kernels' context;
    `origins` has the calls' origins in the model."""

    tensors: MethodTensors
    table: OperatorTable
    context: str
    origins: MethodOrigins
    lists: TensorLists = field(default_factory=TensorLists)
    shared: _SharedCalls = field(default_factory=_SharedCalls)

    def statements(self) -> list[str]:
        """The statements of all chains, one after another."""
        plan = self.tensors.plan
        self.shared.add(self._movable())
        lines: list[str] = []
        if plan.makes_views and plan.loose:
            lines.append(f"rl::baked::forget_views({{state.tensors, {len(plan.loose)}}});")
        for position, index in enumerate(plan.method.inputs):
            if index in plan.loose:
                lines.append(f"RL_TRY(rl::baked::check_input({position}, {self.tensors.handle(index)}));")
        for chain, instructions in enumerate(plan.method.chains):
            lines += self._chain(chain, instructions)
        return lines

    def _movable(self) -> list[_Call]:
        """The calls that need no local variables."""
        found = [
            self._passed(at, call)
            for chain in self.tensors.plan.method.chains
            for at, call in enumerate(chain)
            if isinstance(call, KernelCall)
        ]
        return [call for call, arguments in found if not arguments.locals]

    def _chain(self, chain: int, instructions: tuple[Instruction, ...]) -> list[str]:
        blocks = [self._instruction(chain, at, i) for at, i in enumerate(instructions)]
        targets = {i.target for i in instructions if isinstance(i, JumpFalse)}
        named = {_label(chain, target) for target in targets}
        reached = {label for label in named if any(f"goto {label};" in line for b in blocks for line in b)}
        lines: list[str] = []
        for at, block in enumerate([*blocks, []]):
            label = _label(chain, at)
            lines += [f"{label}:;"] if label in reached else []
            lines += block
        return lines

    def _instruction(self, chain: int, at: int, instruction: Instruction) -> list[str]:
        match instruction:
            case KernelCall():
                return self._call(chain, at, instruction)
            case Move(source, destination):
                return self._move(source, destination)
            case JumpFalse(condition, target):
                return self._jump(at, condition, _label(chain, target))
        return []  # planned memory is never freed

    def _origin(self, chain: int, at: int) -> str:
        """The layer and source line that a call comes from, if known."""
        origin = self.origins.at(at, chain)
        if origin is None:
            return ""
        layer = f", {origin.module}" if origin.module and origin.module.path else ""
        line = origin.line
        where = f", {PurePath(line.file).name}:{line.line}: {line.code}" if line else ""
        return layer + where

    def _call(self, chain: int, at: int, call: KernelCall) -> list[str]:
        method = self.tensors.plan.method
        name = method.operators[call.operator]
        given = list(zip(self.table.operators[name].schema.arguments, call.arguments, strict=False))
        passed, arguments = self._passed(at, call)
        step = f"RL_BAKED_STEP({at}, {self.shared.expression(passed, self.context)});"
        uses = tensor_uses(method, given)
        lines = [f"// {at}: {literals.comment(name + self._origin(chain, at))}", *arguments.locals]
        if any(self._changes_memory(index) for index, _ in uses):
            listed = ", ".join(f"{{&{self.tensors.handle(i)}, {literals.boolean(w)}}}" for i, w in uses)
            lines.append(f"static constexpr rl::baked::Use uses[] = {{{listed}}};")
            lines.append(f"RL_BAKED_STEP({at}, rl::baked::check_tensors(uses));")
        lines.append(step)
        return [lines[0], "{", *lines[1:], "}"] if len(lines) > 2 else lines

    def _passed(self, at: int, call: KernelCall) -> tuple[_Call, Arguments]:
        """The call, and its arguments with the local variables that they need."""
        method = self.tensors.plan.method
        name = method.operators[call.operator]
        given = list(zip(self.table.operators[name].schema.arguments, call.arguments, strict=False))
        arguments = Arguments(self.tensors, self.lists, f"method '{method.name}', instruction {at}")
        passed = tuple(arguments.expression(argument, index) for argument, index in given)
        kernel = f"rl::selected::{selected_name(name)}"
        types = tuple(_parameter(argument) for argument, _ in given)
        return _Call(kernel, passed, types), arguments

    def _changes_memory(self, index: int) -> bool:
        """True if the tensor's memory is known only when the call is made."""
        plan = self.tensors.plan
        return index in plan.moved or (index in plan.loose and index not in plan.method.inputs)

    def _move(self, source: int, destination: int) -> list[str]:
        kind = self.tensors.plan.method.values[destination].kind
        if kind is Kind.TENSOR:
            return [f"{self.tensors.handle(destination)} = {self.tensors.handle(source)};"]
        if kind not in NUMBERS:
            return []  # both are None
        return [f"state.numbers[{self.tensors.numbers[destination]}] = {self._number(source)};"]

    def _number(self, index: int) -> str:
        if index in self.tensors.numbers:
            return f"state.numbers[{self.tensors.numbers[index]}]"
        return self.tensors.number(index)

    def _jump(self, at: int, condition: int, label: str) -> list[str]:
        value = self.tensors.plan.method.values[condition]
        if value.kind is Kind.TENSOR:
            return [
                "{",
                "bool holds = false;",
                f"const rl::EValue condition = rl::EValue({self.tensors.handle(condition)});",
                f"RL_BAKED_STEP({at}, rl::baked::read_condition(condition, &holds));",
                f"if (!holds) goto {label};",
                "}",
            ]
        if condition in self.tensors.numbers:
            return [f"if (rl::is_false({self._number(condition)})) goto {label};"]
        return [] if value.data else [f"goto {label};"]


def _parameter(argument: Argument) -> str:
    """The parameter type for a tensor; empty for other arguments."""
    if argument.base != "Tensor" or argument.is_list:
        return ""
    plain = "std::optional<rl::Tensor>" if argument.optional else "rl::Tensor"
    return f"{plain}&" if argument.mutable else f"const {plain}&"


def _label(chain: int, at: int) -> str:
    return f"chain{chain}_at{at}"
