# SPDX-License-Identifier: BSD-3-Clause
"""Operators that PyTorch computes for a program: those of which this build has no kernel, and calls with
dtypes that its kernel lacks.

The native module hands over tensors as DLPack capsules, so PyTorch computes in the method's own memory. The
one module of the runtime that imports torch, when a program is loaded with `fallback`.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rushlight.errors import MissingDependency

Fallback = Literal["aten", "aten-first"]
FALLBACKS = ("aten", "aten-first")

# The signature characters of runtime/kernel/boxing.h, by the kinds of PyTorch's types.
_CODES = {
    "TensorType": "t",
    "IntType": "i",
    "SymIntType": "i",
    "DeviceObjType": "i",
    "FloatType": "d",
    "BoolType": "b",
    "NumberType": "s",
    "StringType": "z",
    "GeneratorType": "e",
}
_LISTS = {"t": "l", "i": "n", "d": "f", "b": "o"}
# A program has no value of these types: the default stands for it.
_WITHOUT_VALUE = {"DeviceObjType", "GeneratorType"}


def serve(program: Any, operators: Iterable[str], fallback: Fallback) -> None:
    """Lets PyTorch compute the operators of a native program that it has. Errors: MissingDependency."""
    torch = _torch()
    for name in dict.fromkeys(operators):
        served = TorchOperator.find(torch, name)
        if served is not None:
            program.serve(name, served.signature, fallback == "aten-first", served.overwrites, served)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingDependency("torch", "export", install="pip install torch") from error


class TorchOperator:
    """An overload of PyTorch's dispatcher as a function of a call's arguments."""

    def __init__(self, torch: Any, overload: Any, codes: Sequence[str], made: Sequence[str]) -> None:
        self._torch, self._overload = torch, overload
        self._arguments = overload._schema.arguments
        self._made = list(made)
        self.signature = "".join([*codes, *made])
        written = [code in "wk" for code in codes]
        outs = [argument.is_out for argument in self._arguments]
        # An operator that updates an argument, optional or not, reads it, too.
        updates = [a.alias_info is not None and a.alias_info.is_write for a in self._arguments]
        self.overwrites = outs == written == updates

    @classmethod
    def find(cls, torch: Any, name: str) -> TorchOperator | None:
        """The overload of that name. An out overload that PyTorch lacks is computed by the functional one:
        "out" by the default one, "x_out" by "x". None if PyTorch has neither, or if they take or return
        values that programs do not have."""
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        packet = getattr(getattr(torch.ops, namespace), base, None)
        if packet is None:
            return None
        overloads = packet.overloads()
        given = overload or "default"
        plain = "default" if overload == "out" else overload.removesuffix("_out")
        if given in overloads:
            found, made = getattr(packet, given), []
        elif plain in overloads:
            found = getattr(packet, plain)
            made = [_code(returned, is_written=True) for returned in found._schema.returns]
            if not made or not set(made) <= {"w", "k"}:
                return None
        else:
            return None
        codes = [_code(argument, _is_written(argument)) for argument in found._schema.arguments]
        returns = found._schema.returns
        # Results that are no argument need a place, which only the functional form gets.
        is_whole = bool(made) or all(returned.alias_info is not None for returned in returns)
        return cls(torch, found, codes, made) if "" not in codes and is_whole else None

    def __call__(self, values: list[Any]) -> list[tuple[int, ...]]:
        """Computes a call in the memory of its written tensors, and returns their sizes. See Fallback in
        python/bindings/fallback.h for the values."""
        targets: list[Target] = []
        given, named = [], {}
        count = len(self._arguments)
        for argument, code, value in zip(self._arguments, self.signature, values, strict=False):
            if argument.type.kind() in _WITHOUT_VALUE or _item(argument.type).kind() in _WITHOUT_VALUE:
                value = None
            elif code in "wk":
                value = self._written(value, targets, argument.is_out)
            elif code in "tT" or code in "lLp":
                value = self._lent(value)
            if argument.kwarg_only:
                named[argument.name] = value
            else:
                given.append(value)
        results = self._overload(*given, **named)
        if self._made:
            for value in values[count:]:
                self._written(value, targets, True)
            for target, result in zip(targets, _flat(results), strict=True):
                target.result = result
        return [target.settled(self._torch) for target in targets]

    def _written(self, value: Any, targets: list[Target], is_out: bool) -> Any:
        if isinstance(value, list):
            return [self._written(item, targets, is_out) for item in value]
        memory, sizes, order, is_dynamic, is_shared = value
        target = Target(self._torch.from_dlpack(memory), sizes, order, is_dynamic)
        target.prepare(self._torch, is_out, is_shared)
        targets.append(target)
        return target.result

    def _lent(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, list):
            return [self._lent(item) for item in value]
        return self._torch.from_dlpack(value)


class Target:
    """A written tensor: `memory` is the program's for its largest shape, `result` the tensor that PyTorch
    writes."""

    def __init__(self, memory: Any, sizes: tuple[int, ...], order: tuple[int, ...], is_dynamic: bool) -> None:
        self.memory, self.sizes, self.order, self.is_dynamic = memory, sizes, order, is_dynamic
        self.result: Any = None

    def prepare(self, torch: Any, is_out: bool, is_shared: bool) -> None:
        """Makes the tensor that PyTorch writes. A result whose shape is not known has no elements: PyTorch
        then resizes it within the memory. Memory that the call also reads is written afterwards."""
        view = self._view(self.sizes)
        if is_out and self.is_dynamic:
            self.result = self.memory.new_empty(0) if is_shared else self.memory[:0]
        elif is_shared:
            self.result = torch.empty_like(view) if is_out else view.clone()
        else:
            self.result = view

    def settled(self, torch: Any) -> tuple[int, ...]:
        """The result's sizes, after its elements have been brought to the memory, in its dim order. Errors:
        ValueError for a result that the memory cannot take."""
        result = self.result
        sizes = tuple(result.shape)
        if not self.is_dynamic and sizes != self.sizes:
            raise ValueError(f"out: expected shape {list(self.sizes)}, got {list(sizes)}")
        if len(sizes) != len(self.order) or result.numel() > self.memory.numel():
            limit = f"{len(self.order)} dimensions and at most {self.memory.numel()} elements"
            raise ValueError(f"out: expected {limit}, got shape {list(sizes)}")
        if result.dtype != self.memory.dtype:
            raise ValueError(f"out: expected {self.memory.dtype}, got {result.dtype}")
        target = self._view(sizes)
        if result.numel() and not _same_layout(result, target):
            target.copy_(result.clone())
        return sizes

    def _view(self, sizes: tuple[int, ...]) -> Any:
        """The memory in a shape, dense in the tensor's dim order."""
        strides, step = [0] * len(sizes), 1
        for dimension in reversed(self.order):
            strides[dimension] = step
            step *= max(sizes[dimension], 1)
        return self.memory.as_strided(sizes, strides)


def _same_layout(result: Any, target: Any) -> bool:
    """True if both are the same memory, element by element. Strides of single elements do not matter."""
    if result.data_ptr() != target.data_ptr() or result.is_conj() or result.is_neg():
        return False
    pairs = zip(result.shape, result.stride(), target.stride(), strict=True)
    return all(own == wanted for size, own, wanted in pairs if size > 1)


def _flat(results: Any) -> list[Any]:
    if not isinstance(results, (list, tuple)):
        return [results]
    return list(itertools.chain.from_iterable(map(_flat, results)))


def _item(kind: Any) -> Any:
    return kind.getElementType() if kind.kind() == "OptionalType" else kind


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _code(argument: Any, is_written: bool) -> str:
    """The signature character of an argument; empty if programs have no value of its type."""
    kind, is_optional = _item(argument.type), argument.type.kind() == "OptionalType"
    if kind.kind() == "ListType":
        item = kind.getElementType()
        if item.kind() == "OptionalType":
            return "p" if item.getElementType().kind() == "TensorType" and not is_optional else ""
        code = _LISTS.get(_CODES.get(item.kind(), ""), "")
        code = "k" if code == "l" and is_written else code
    else:
        code = _CODES.get(kind.kind(), "")
        code = "w" if code == "t" and is_written and not is_optional else code
    return code.upper() if is_optional and code != "e" else code
