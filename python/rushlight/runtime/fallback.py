# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch computes a program's operators without a kernel in this build, and calls with dtypes that the
kernel lacks.

The native module hands over tensors as DLPack capsules, so PyTorch computes in the method's own memory. The
one module of the runtime that imports torch, when a program is loaded with `fallback`.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

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
# Programs have no value of these types: PyTorch gets None.
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


class _Argument(NamedTuple):
    """An argument of an overload: its name if it is passed by name, and its role: "value", "lent" (a tensor
    or tensors that are read), "written", or "absent" (programs have no value for it)."""

    keyword: str
    role: str
    is_out: bool


class TorchOperator:
    """An overload of PyTorch's dispatcher as a function of a call's arguments."""

    def __init__(self, torch: Any, overload: Any, codes: Sequence[str], made: Sequence[str]) -> None:
        self._torch, self._overload = torch, overload
        self._made = list(made)
        self.signature = "".join([*codes, *made])
        arguments = overload._schema.arguments
        # Looked up once: PyTorch's types are slow to ask.
        self._arguments = [
            _Argument(each.name if each.kwarg_only else "", _role(each, code), each.is_out)
            for each, code in zip(arguments, codes, strict=True)
        ]
        written = [code in "wk" for code in codes]
        # An operator that updates an argument, optional or not, reads it, too.
        self.overwrites = [a.is_out for a in arguments] == written == [_is_written(a) for a in arguments]

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
        # Results that are no argument need memory, which only the functional form gets.
        is_whole = bool(made) or all(each.alias_info is not None for each in found._schema.returns)
        return cls(torch, found, codes, made) if is_whole and _computes([*codes, *made]) else None

    def __call__(self, values: list[Any]) -> list[tuple[int, ...]]:
        """Computes a call in the memory of its written tensors, and returns their sizes. See Fallback in
        python/bindings/fallback.h for the values."""
        targets: list[Target] = []
        bound = [self._bound(*each, targets) for each in zip(self._arguments, values, strict=False)]
        made = [self._written(value, targets, True) for value in values[len(bound) :]][: len(self._made)]
        with self._torch.no_grad():
            try:
                results = self._computed(bound)
            except NotImplementedError:
                raise
            except RuntimeError:
                # Some operators use an out tensor for larger intermediate results, which borrowed memory
                # cannot hold. The inputs are as before, so the call is repeated with PyTorch's own tensors.
                lent = [target for target in targets if target.is_lent]
                if made or not lent or not self.overwrites:
                    raise
                for target in lent:
                    target.separate()
                results = self._computed(bound)
            if made:
                for target, result in zip(targets, _flat(results), strict=True):
                    target.result = result
            return [target.settled() for target in targets]

    def _bound(self, argument: _Argument, value: Any, targets: list[Target]) -> Any:
        """The value of an argument for PyTorch; targets stand for written tensors."""
        if argument.role == "written":
            return self._written(value, targets, argument.is_out)
        if argument.role == "lent":
            return self._lent(value)
        return value if argument.role == "value" else None

    def _computed(self, bound: list[Any]) -> Any:
        given, named = [], {}
        for argument, value in zip(self._arguments, bound, strict=True):
            if argument.keyword:
                named[argument.keyword] = _result_of(value)
            else:
                given.append(_result_of(value))
        return self._overload(*given, **named)

    def _written(self, value: Any, targets: list[Target], is_out: bool) -> Any:
        if isinstance(value, list):
            return [self._written(item, targets, is_out) for item in value]
        memory, sizes, order, is_dynamic, is_shared = value
        targets.append(Target(self._torch.from_dlpack(memory), sizes, order, is_dynamic))
        targets[-1].prepare(is_out, is_shared)
        return targets[-1]

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
        self.view: Any = None  # the memory in the present shape
        self.is_lent = True  # the result is in the program's memory

    def prepare(self, is_out: bool, is_shared: bool) -> None:
        """Makes the tensor that PyTorch writes. A result whose shape is not known has no elements: PyTorch
        then resizes it within the memory. Memory that the call also reads is written afterwards."""
        self.is_lent = not is_shared
        if is_out and self.is_dynamic:
            self.result = self.memory[:0] if self.is_lent else self.memory.new_empty(0)
        else:
            self.view = self._view(self.sizes)
            self.result = self.view if self.is_lent else self.view.clone()

    def separate(self) -> None:
        """Makes the result a tensor of PyTorch's own, without elements and of any capacity."""
        self.result, self.is_lent = self.memory.new_empty(0), False

    def settled(self) -> tuple[int, ...]:
        """The result's sizes, after its elements have been brought to the memory, in its dim order. Errors:
        ValueError for a result that the memory cannot take."""
        result = self.result
        sizes = tuple(result.shape)
        if result is self.view and sizes == self.sizes and result.data_ptr() == self.memory.data_ptr():
            return sizes
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


def _result_of(value: Any) -> Any:
    """The tensors that stand behind targets; other values are unchanged."""
    if isinstance(value, list):
        return [_result_of(item) for item in value]
    return value.result if isinstance(value, Target) else value


def _flat(results: Any) -> list[Any]:
    if not isinstance(results, (list, tuple)):
        return [results]
    return list(itertools.chain.from_iterable(map(_flat, results)))


def _item(kind: Any) -> Any:
    return kind.getElementType() if kind.kind() == "OptionalType" else kind


def _computes(codes: Sequence[str]) -> bool:
    """True if an operator writes tensors, and takes only values that programs have. A string beside no tensor
    to read is the name of a file (from_file): programs may be of unknown origin."""
    reads, writes = not {"t", "T", "l", "L", "p"}.isdisjoint(codes), not {"w", "k"}.isdisjoint(codes)
    return writes and "" not in codes and (reads or {"z", "Z"}.isdisjoint(codes))


def _role(argument: Any, code: str) -> str:
    if _item(argument.type).kind() in _WITHOUT_VALUE:
        return "absent"
    return "written" if code in "wk" else "lent" if code in "tTlLp" else "value"


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
