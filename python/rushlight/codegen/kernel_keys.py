# SPDX-License-Identifier: BSD-3-Clause
"""Kernel keys: the dtypes and dim orders of a call's tensors as text, "v1/6;0,1|6;0,1", and the `kernels` of
an operator in an ExecuTorch YAML file, which state by keys for which calls each kernel is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.errors import InvalidSelection
from rushlight.program.dtypes import NAMES, NUMBERS, named

ANY_TENSORS = "default"
"""The key of a kernel for all tensors."""

_KEY = re.compile(r"v\d+/(\d+;(\d+(,\d+)*)?)(\|\d+;(\d+(,\d+)*)?)*")

TensorKey = tuple[str, tuple[int, ...]]
"""A dtype and a dim order; () matches any order."""


@dataclass(frozen=True)
class KernelEntry:
    """One of an operator's `kernels`: its name, its keys, and the dtypes in the keys and in `dtypes`. Without
    either it is for all calls."""

    name: str
    keys: tuple[str, ...]
    dtypes: frozenset[str]


def key_of(tensors: Iterable[TensorKey]) -> str:
    """The key of a call's tensors, in argument order."""
    return "v1/" + "|".join(f"{NUMBERS[dtype]};{','.join(map(str, order))}" for dtype, order in tensors)


def tensors_of(key: str, where: str) -> list[TensorKey]:
    """The dtype and order of each tensor in a key; empty for "default" and for a call without tensors.

    Errors: InvalidSelection naming `where` and the key.
    """
    if key == ANY_TENSORS or re.fullmatch(r"v\d+/?", key):
        return []
    if _KEY.fullmatch(key) is None:
        raise InvalidSelection(f"{where}: expected a kernel key such as v1/6;0,1|6;0,1, got '{key}'")
    tensors: list[TensorKey] = []
    for text in key.split("/", 1)[1].split("|"):
        number, _, order = text.partition(";")
        if int(number) not in NAMES:
            raise InvalidSelection(
                f"{where}: kernel key '{key}': expected the integer of a dtype, got {number}"
            )
        tensors.append((NAMES[int(number)], tuple(map(int, order.split(","))) if order else ()))
    return tensors


def dtypes_of(keys: Iterable[str], where: str) -> frozenset[str]:
    """All dtypes in the keys."""
    return frozenset(dtype for key in keys for dtype, _ in tensors_of(key, where))


def kernel_entries(entry: Mapping[str, Any], where: str, order: Sequence[str] = ()) -> list[KernelEntry]:
    """The `kernels` of an operator's entry with `type_alias` and `dim_order_alias` expanded; empty if it has
    none. `order` has the schema's arguments in order, which keys follow; without it they follow
    `arg_meta`.

    Errors: InvalidSelection naming `where` and the defect.
    """
    listed = entry.get("kernels") or []
    if not isinstance(listed, list) or not all(isinstance(kernel, dict) for kernel in listed):
        raise InvalidSelection(f"{where}: kernels: expected a list of mappings, got {listed!r:.120}")
    aliases = (_aliases(entry, "type_alias", where), _aliases(entry, "dim_order_alias", where))
    return [_kernel(kernel, aliases, where, order) for kernel in listed]


def _aliases(entry: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    aliases = entry.get(name) or {}
    if not isinstance(aliases, dict):
        raise InvalidSelection(f"{where}: {name}: expected a mapping, got {aliases!r:.120}")
    return aliases


def _kernel(
    kernel: Mapping[str, Any],
    aliases: tuple[dict[str, Any], dict[str, Any]],
    where: str,
    order: Sequence[str],
) -> KernelEntry:
    name, meta = kernel.get("kernel_name"), kernel.get("arg_meta")
    if not isinstance(name, str) or not re.fullmatch(r"(\w+::)*[A-Za-z_]\w*", name):
        raise InvalidSelection(f"{where}: kernel_name: expected namespace::function, got {name!r:.80}")
    if meta is not None and not isinstance(meta, dict):
        raise InvalidSelection(f"{where}: arg_meta: expected a mapping or null, got {meta!r:.80}")
    keys = tuple(key_of(tensors) for tensors in _expanded(meta, aliases, where, order)) if meta else ()
    listed = kernel.get("dtypes") or []
    if not isinstance(listed, list):
        raise InvalidSelection(f"{where}: dtypes: expected a list, got {listed!r:.80}")
    said = {_dtype(text, where) for text in listed}
    return KernelEntry(name, keys, frozenset(said) | dtypes_of(keys, where))


def _expanded(
    meta: Mapping[str, Any], aliases: tuple[dict[str, Any], dict[str, Any]], where: str, order: Sequence[str]
) -> list[list[TensorKey]]:
    """One key per combination of the aliases' meanings; an alias means the same dtype in all arguments."""
    arguments = [name for name in order if name in meta] if order else list(meta)
    if unknown := meta.keys() - set(arguments):
        raise InvalidSelection(
            f"{where}: arg_meta: expected arguments of {', '.join(order)}, got '{min(unknown)}'"
        )
    pairs = [meta[name] for name in arguments]
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise InvalidSelection(f"{where}: arg_meta: expected [dtype, dim order], got {pair!r:.80}")
    types = {str(alias): _types(alias, aliases[0], where) for alias, _ in pairs}
    orders = {str(alias): _orders(alias, aliases[1], where) for _, alias in pairs}
    keys = []
    for dtypes in itertools.product(*types.values()):
        for dims in itertools.product(*orders.values()):
            of, dim = dict(zip(types, dtypes, strict=True)), dict(zip(orders, dims, strict=True))
            keys.append([(of[str(dtype)], dim[str(alias)]) for dtype, alias in pairs])
    return keys


def _types(alias: Any, known: Mapping[str, Any], where: str) -> list[str]:
    listed = known.get(alias, alias) if isinstance(alias, str) else alias
    return [_dtype(text, where) for text in (listed if isinstance(listed, list) else [listed])]


def _orders(alias: Any, known: Mapping[str, Any], where: str) -> list[tuple[int, ...]]:
    """The dim orders of an alias: one, or a list of them."""
    listed = known.get(alias, alias) if isinstance(alias, str) else alias
    orders = listed if isinstance(listed, list) and listed and isinstance(listed[0], list) else [listed]
    if not all(isinstance(one, list) and all(isinstance(d, int) for d in one) for one in orders):
        raise InvalidSelection(
            f"{where}: dim order {alias!r}: expected a list of integers or an alias for one"
        )
    return [tuple(one) for one in orders]


def named_dtype(text: Any) -> str | None:
    """The dtype with our, C's or PyTorch's name: "float32", "float", "Float"; None if there is none."""
    return named(str(text)) or named(str(text).lower())


def _dtype(text: Any, where: str) -> str:
    name = named_dtype(text)
    if name is None:
        raise InvalidSelection(f"{where}: expected a dtype or a type alias, got '{text}'")
    return name
