# SPDX-License-Identifier: BSD-3-Clause
"""The instructions of a method as C++ statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath

from rushlight.codegen.bake import literals
from rushlight.codegen.bake.calls import Arguments, TensorLists
from rushlight.codegen.bake.plan import NUMBERS, tensor_uses
from rushlight.codegen.bake.tensors import MethodTensors
from rushlight.codegen.emit import selected_name
from rushlight.codegen.table import OperatorTable
from rushlight.program.debug import MethodOrigins
from rushlight.program.model import Instruction, JumpFalse, KernelCall, Kind, Move


@dataclass
class Body:
    """Writes the function that runs a method. `context` is the expression that gives kernels theirs;
    `origins` tells what calls were made of."""

    tensors: MethodTensors
    table: OperatorTable
    context: str
    origins: MethodOrigins
    lists: TensorLists = field(default_factory=TensorLists)

    def statements(self) -> list[str]:
        """All chains, one after another."""
        plan = self.tensors.plan
        lines: list[str] = []
        if plan.makes_views and plan.loose:
            lines.append(f"rl::baked::forget_views({{state.tensors, {len(plan.loose)}}});")
        for position, index in enumerate(plan.method.inputs):
            if index in plan.loose:
                lines.append(f"RL_TRY(rl::baked::check_input({position}, {self.tensors.handle(index)}));")
        for chain, instructions in enumerate(plan.method.chains):
            lines += self._chain(chain, instructions)
        return lines

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
        return []  # planned memory is not freed

    def _origin(self, chain: int, at: int) -> str:
        """The layer and the line of the model that the call was made of, where they are known."""
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
        row = self.table.operators[name]
        given = list(zip(row.schema.arguments, call.arguments, strict=False))
        arguments = Arguments(self.tensors, self.lists, f"method '{method.name}', instruction {at}")
        passed = [arguments.expression(argument, index) for argument, index in given]
        kernel = f"rl::selected::{selected_name(name)}"
        step = f"RL_BAKED_STEP({at}, {kernel}({', '.join([self.context, *passed])}));"
        uses = tensor_uses(method, given)
        lines = [f"// {at}: {literals.comment(name + self._origin(chain, at))}", *arguments.locals]
        if any(self._changes_memory(index) for index, _ in uses):
            listed = ", ".join(f"{{&{self.tensors.handle(i)}, {literals.boolean(w)}}}" for i, w in uses)
            lines.append(f"static constexpr rl::baked::Use uses[] = {{{listed}}};")
            lines.append(f"RL_BAKED_STEP({at}, rl::baked::check_tensors(uses));")
        lines.append(step)
        return [lines[0], "{", *lines[1:], "}"] if len(lines) > 2 else lines

    def _changes_memory(self, index: int) -> bool:
        """Whether what memory the tensor has is known only when the call is made."""
        plan = self.tensors.plan
        return index in plan.moved or (index in plan.loose and index not in plan.method.inputs)

    def _move(self, source: int, destination: int) -> list[str]:
        kind = self.tensors.plan.method.values[destination].kind
        if kind is Kind.TENSOR:
            return [f"{self.tensors.handle(destination)} = {self.tensors.handle(source)};"]
        if kind not in NUMBERS:
            return []  # none to none
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


def _label(chain: int, at: int) -> str:
    return f"chain{chain}_at{at}"
