# SPDX-License-Identifier: BSD-3-Clause
"""Calls linked kernels with torch tensors and compares them with torch eager."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from rushlight.codegen.emit import PORTABLE_PREFIX

DTYPE_NUMBERS = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.complex32: 8,
    torch.complex64: 9,
    torch.complex128: 10,
    torch.bool: 11,
    torch.bfloat16: 15,
    torch.uint16: 27,
    torch.uint32: 28,
    torch.uint64: 29,
}
INTEGRAL = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED_WIDE = [torch.uint16, torch.uint32, torch.uint64]
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
REAL = INTEGRAL + FLOATING
ALL = [torch.bool, *REAL, *UNSIGNED_WIDE]

MEMORY_FORMAT_NUMBERS = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}

# (rtol, atol): one unit in the last place for 16-bit types, a few for the others.
TOLERANCES = {
    torch.float16: (1e-3, 1e-6),
    torch.bfloat16: (8e-3, 1e-6),
    torch.float32: (1.3e-6, 1e-6),
    torch.float64: (1e-13, 1e-13),
    torch.complex32: (1e-3, 1e-3),
    torch.complex64: (1.3e-6, 1e-6),
    torch.complex128: (1e-13, 1e-13),
}


class KernelRefused(Exception):
    """A kernel returned an error.

    Attributes:
        error: the enumerator's name, such as "InvalidArgument".
        log: the lines logged during the call.
    """

    def __init__(self, name: str, error: str, log: list[str]) -> None:
        super().__init__(f"{name}: {error}: {'; '.join(log)}")
        self.error = error
        self.log = log


def random_tensor(
    shape: Sequence[int], dtype: torch.dtype, *, low: float = -5, high: float = 5, seed: int = 0
) -> torch.Tensor:
    """A tensor of `shape`: uniform in [low, high), from 0 for unsigned types; bool is a fair coin. Both
    parts of complex numbers are so.
    """
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, tuple(shape), generator=generator).bool()
    if dtype.is_complex:
        parts = [random_tensor(shape, torch.float64, low=low, high=high, seed=seed + i) for i in (0, 1)]
        return torch.complex(*parts).to(dtype)
    if not dtype.is_signed:
        low = max(low, 0)
    if dtype.is_floating_point:
        values = torch.rand(tuple(shape), generator=generator, dtype=torch.float64)
        return (values * (high - low) + low).to(dtype)
    return torch.randint(int(low), int(high), tuple(shape), generator=generator).to(dtype)


def with_dim_order(tensor: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """A copy of `tensor` in the dim order `order`, outermost dimension first."""
    inverse = [list(order).index(d) for d in range(tensor.dim())]
    return tensor.permute(tuple(order)).clone(memory_format=torch.contiguous_format).permute(inverse)


def dim_order(tensor: torch.Tensor) -> list[int]:
    """The dim order of a dense tensor. Raises ValueError for a tensor with gaps or overlaps."""
    order = sorted(range(tensor.dim()), key=lambda d: (-tensor.stride(d), tensor.size(d) == 1, d))
    expected = 1
    for d in reversed(order):
        if tensor.size(d) > 1 and tensor.numel() > 0 and tensor.stride(d) != expected:
            raise ValueError(f"not dense: sizes {tuple(tensor.shape)}, strides {tensor.stride()}")
        expected *= max(tensor.size(d), 1)
    return order


def poison(tensor: torch.Tensor) -> torch.Tensor:
    """Fills `tensor` with a value that a kernel is unlikely to compute."""
    return tensor.fill_(True if tensor.dtype == torch.bool else 113)


def assert_equal(
    actual: torch.Tensor, expected: torch.Tensor, *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Checks values within tolerance and NaN at the same indices; shape and dtype must be equal, strides may
    differ."""
    default_rtol, default_atol = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    torch.testing.assert_close(
        actual,
        expected,
        rtol=default_rtol if rtol is None else rtol,
        atol=default_atol if atol is None else atol,
        equal_nan=True,
        check_stride=False,
    )


class Variant(NamedTuple):
    """The variant of a kernel call: with constants prepared, or with the portable kernel instead."""

    prepare: bool = False
    portable: bool = False


class Kernels:
    """The linked operators, by their full name ("aten::add.out")."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        listed: dict[str, str] = module.operators()
        self.signatures = {
            name: code for name, code in listed.items() if not name.startswith(PORTABLE_PREFIX)
        }
        self._portable = {
            name.removeprefix(PORTABLE_PREFIX) for name in listed.keys() - self.signatures.keys()
        }

    def variants(self, name: str) -> list[Variant]:
        """The variants of an operator's call: its kernel; if it prepares constants, also with prepared
        constants; if it is optimized, also the portable kernel behind it."""
        found = [Variant()]
        if self._module.prepares(name):
            found.append(Variant(prepare=True))
        return [*found, Variant(portable=True)] if name in self._portable else found

    def set_seed(self, seed: int) -> None:
        """Restarts the kernels' random generator."""
        self._module.set_seed(seed)

    def run(
        self,
        name: str,
        arguments: Sequence[Any],
        *,
        dynamic: Sequence[torch.Tensor] = (),
        temporary_bytes: int = 1 << 24,
        variant: Variant = Variant(),  # noqa: B008
        threads: int = 1,
    ) -> list[Any]:
        """Calls a kernel with all its arguments in schema order, out tensors last.

        Tensors are torch tensors or numpy arrays, dense in some dim order, and are passed without a
        copy. Tensors in `dynamic` are passed with their shape as the bound and every size 0, and the
        kernel has to give them that shape again.

        Returns the values of arguments that the kernel may overwrite (prim operators).
        Raises KernelRefused with the kernel's error.
        """
        wrapped: list[tuple[Any, torch.Tensor]] = []
        converted = self._convert(name, arguments, dynamic, wrapped)
        called = f"{PORTABLE_PREFIX}{name}" if variant.portable else name
        error, logged, written = self._module.call(
            called, converted, temporary_bytes, threads, variant.prepare
        )
        if error != "Ok":
            raise KernelRefused(name, error, logged.splitlines())
        for argument, tensor in wrapped:
            assert list(argument.sizes) == list(tensor.shape), f"{name}: out has shape {argument.sizes}"
        return written

    def check(
        self,
        name: str,
        *args: Any,
        out_dtype: torch.dtype | None = None,
        out_dim_order: Sequence[int] | None = None,
        eager: Callable[..., Any] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Compares an out overload with torch's functional form of the same operator.

        `args` and `kwargs` are the operator's without the out tensors. Calls all variants, each twice: with
        static out tensors, and with dynamic out tensors that the kernel must resize.
        """
        schema = schema_of(name)
        reference = eager or getattr(_namespace(name), _base_name(name))
        results = reference(*args, **kwargs)
        grouped = isinstance(results, (tuple, list))
        expected = [result.to(out_dtype or result.dtype) for result in (results if grouped else [results])]
        for variant, is_dynamic in itertools.product(self.variants(name), (False, True)):
            outs = [poison(_empty_like(result, out_dim_order)) for result in expected]
            bound = _bind(schema, args, kwargs, outs)
            self.run(name, bound, dynamic=outs if is_dynamic else (), variant=variant)
            for out, result in zip(outs, expected, strict=True):
                assert_equal(out, result, rtol=rtol, atol=atol)

    def refuse(self, name: str, *args: Any, outs: Sequence[torch.Tensor], **kwargs: Any) -> KernelRefused:
        """The error with which a kernel refuses these arguments; fails if the kernel accepts them."""
        try:
            self.run(name, _bind(schema_of(name), args, kwargs, list(outs)))
        except KernelRefused as refused:
            assert refused.log, f"{name} refused without a word"
            return refused
        raise AssertionError(f"{name} took arguments it should refuse")

    def scratch_bytes(self, name: str, arguments: Sequence[Any], *, threads: int = 1) -> int:
        """The scratch memory that the kernel asks for when a method with such a call is loaded."""
        return int(self._module.scratch_bytes(name, self._convert(name, arguments, (), []), threads))

    def _convert(
        self,
        name: str,
        arguments: Sequence[Any],
        dynamic: Sequence[torch.Tensor],
        wrapped: list[tuple[Any, torch.Tensor]],
    ) -> list[Any]:
        return [
            plain_argument(code, argument, lambda tensor: self._wrap(tensor, dynamic, wrapped))
            for code, argument in zip(self.signatures[name], arguments, strict=True)
        ]

    def _wrap(
        self,
        value: torch.Tensor,
        dynamic: Sequence[torch.Tensor],
        wrapped: list[tuple[Any, torch.Tensor]],
    ) -> Any:
        is_dynamic = any(value is tensor for tensor in dynamic)
        argument = self._module.TensorArgument(
            value.data_ptr(), DTYPE_NUMBERS[value.dtype], list(value.shape), dim_order(value), is_dynamic
        )
        wrapped.append((argument, value))
        return argument


_ITEM_CODES = {"n": "i", "f": "d", "o": "b", "l": "t", "k": "t", "p": "t"}


def plain_argument(code: str, value: Any, of_tensor: Callable[[torch.Tensor], Any]) -> Any:
    """An argument as kernels take it, by the character of its kind: PyTorch's enumerators become integers,
    and tensors the results of `of_tensor`."""
    if isinstance(value, np.ndarray):
        value = torch.from_numpy(value)
    if isinstance(value, torch.Tensor):
        return of_tensor(value)
    if isinstance(value, torch.dtype):
        return DTYPE_NUMBERS[value]
    if isinstance(value, torch.memory_format):
        return MEMORY_FORMAT_NUMBERS[value]
    if isinstance(value, (torch.layout, torch.device)):
        return 0
    if isinstance(value, (list, tuple)):
        return [plain_argument(_ITEM_CODES[code.lower()], item, of_tensor) for item in value]
    if code.lower() == "d" and value is not None:
        return float(value)
    if code.lower() == "n" and isinstance(value, int):
        return [value]
    return value


def _namespace(name: str) -> Any:
    return getattr(torch.ops, name.split("::")[0])


def _base_name(name: str) -> str:
    return name.split("::")[1].split(".")[0]


def schema_of(name: str) -> Any:
    """The schema of an out overload: PyTorch's own, else the function's schema plus an out."""
    packet = getattr(_namespace(name), _base_name(name))
    overload = name.partition(".")[2] or "default"
    if overload in packet.overloads():
        return getattr(packet, overload)._schema
    arguments, _, result = str(packet.default._schema).rpartition(") -> ")
    arguments = arguments.replace("(", f".{overload}(", 1)
    star = "" if " *," in arguments else "*, "
    return torch._C.parse_schema(f"{arguments}, {star}{result}(a!) out) -> {result}(a!)")


def _empty_like(tensor: torch.Tensor, order: Sequence[int] | None) -> torch.Tensor:
    return with_dim_order(torch.empty(tensor.shape, dtype=tensor.dtype), order or range(tensor.dim()))


def _bind(schema: Any, args: Sequence[Any], kwargs: dict[str, Any], outs: list[torch.Tensor]) -> list[Any]:
    """All arguments of `schema` in order; out arguments come from `outs`, a list if the schema has one."""
    left = list(args)
    outs_left = list(outs)
    bound = []
    for argument in schema.arguments:
        if argument.is_out:
            is_list = "List" in str(argument.type)
            bound.append(outs_left if is_list else outs_left.pop(0))
        elif argument.name in kwargs:
            bound.append(kwargs[argument.name])
        elif left and not argument.kwarg_only:
            bound.append(left.pop(0))
        elif argument.has_default_value():
            bound.append(argument.default_value)
        else:
            raise TypeError(f"{schema}: {argument.name} is missing")
    if left:
        raise TypeError(f"{schema}: {len(left)} arguments too many")
    return bound
