# SPDX-License-Identifier: BSD-3-Clause
"""Watches PyTorch's ATen calls, and repeats them on the kernels."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

from support.harness import KernelRefused, Kernels, dim_order, poison, with_dim_order
from support.opinfo.judging import judge
from support.opinfo.matching import Rows

# These calls compute no new values: an exporter drops them, or replaces them by operators of the table.
_FREE = {
    "aten::_conj",
    "aten::_neg_view",
    "aten::alias",
    "aten::contiguous",
    "aten::detach",
    "aten::equal",  # called from Python, and answered there
    "aten::is_same_size",
    "aten::lift_fresh",
}

_CALLS_BY_TRAITS = 20
"""Number of calls of an operator that are repeated as its traits allow."""

CALLS_ALIKE = 3
"""Number of calls of one operator with the same dtypes, shapes and scalars that suffice for tests: the first
calls with a shape show most faults. table.py repeats all."""


class Watch(TorchDispatchMode):
    """While this mode is on, `make_call` gets each ATen call that the table has.

    Calls that the table lacks are decomposed as an exporter would; the others are in `missing`.

    Args:
        judged: number of earlier calls of each kind, with arguments of the same dtypes, shapes and scalars.
        alike: number of such calls that run on the kernel; None: all, as their elements differ.

    Attributes:
        made: number of calls of rows of the table.
        compared: number of these calls that ran on the kernel too.
        replayed: names of compared rows, each with the dtype of the call.
        decomposed: names of the ATen operators that were decomposed.
        missing: names of operators that neither have a kernel nor decompose.
        failed: members of `replayed` that refused a call or returned another result.
        failures: one line for each such call.
    """

    def __init__(
        self,
        rows: Rows,
        decompositions: dict[Any, Callable[..., Any]],
        judged: Counter[str] | None = None,
        alike: int | None = None,
    ) -> None:
        super().__init__()
        self._alike = alike
        self.made = self.compared = 0
        self.rows = rows
        self._decompositions = decompositions
        self._judged: Counter[str] = Counter() if judged is None else judged
        self.replayed: set[tuple[str, str]] = set()
        self.decomposed: set[str] = set()
        self.missing: set[str] = set()
        self.failed: set[tuple[str, str]] = set()
        self.failures: list[str] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        with _views_resolved():
            return self._called(function, args, kwargs or {})

    def _called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        row = self.rows.find(function)
        if row is None:
            return self._decomposed(function, args, kwargs)
        bound = self.rows.bind(row, function, args, kwargs)
        given = {name: _tensors_as_stored(row, value) for name, value in _with_offset(row, bound).items()}
        given = _numbers_as_tensors(given, self.rows.overloads[row]._schema)
        if any(isinstance(value, complex) for value in given.values()):
            return function(*args, **kwargs)  # programs have complex values in tensors only
        if "non_blocking" in given:
            given["non_blocking"] = False  # as exporters give every copy
        result = function(*args, **kwargs)
        signature = f"{row}({described(given)})"
        self._judged.update((row, signature))
        results = result if isinstance(result, (tuple, list)) else [result]
        if all(isinstance(value, torch.Tensor) for value in results):
            called = (row, _dtype_name(given, results))
            self.made += 1
            if self._alike is None or self._judged[signature] <= self._alike:
                self.replayed.add(called)
                self.compared += 1
                self._replay(called, given, results, function, signature)
        return result

    def _decomposed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if function._schema.name in _FREE:
            return function(*args, **kwargs)
        with self:
            if function in self._decompositions:
                result = self._decompositions[function](*args, **kwargs)
            elif (functional := _functional_form(function)) in self._decompositions:
                result = args[0].copy_(self._decompositions[functional](*args, **kwargs))
            else:
                result = function.decompose(*args, **kwargs)
        if result is NotImplemented:
            self.missing.add(function.name())
            return function(*args, **kwargs)
        self.decomposed.add(function.name())
        return result

    def _replay(
        self,
        called: tuple[str, str],
        given: dict[str, Any],
        results: Sequence[torch.Tensor],
        function: Any,
        signature: str,
    ) -> None:
        expected = [_dense(value) for value in results]
        try:
            self.make_call(called[0], given, expected, function)
        except (KernelRefused, AssertionError, ValueError, TypeError) as error:
            self.failures.append(f"{signature}: {' '.join(str(error).split())}")
            self.failed.add(called)
            self._judged[signature] = 0  # the next one is judged, too

    def make_call(self, row: str, given: dict[str, Any], expected: list[torch.Tensor], function: Any) -> None:
        """Takes a call of `row` with the arguments `given`, for which `function` returned `expected`."""
        raise NotImplementedError


class Replay(Watch):
    """Repeats each call on its kernel and judges the results."""

    def __init__(
        self,
        kernels: Kernels,
        rows: Rows,
        decompositions: dict[Any, Callable[..., Any]],
        judged: Counter[str] | None = None,
        alike: int | None = None,
    ) -> None:
        super().__init__(rows, decompositions, judged, alike)
        self.kernels = kernels

    def make_call(self, row: str, given: dict[str, Any], expected: list[torch.Tensor], function: Any) -> None:
        """See Watch."""
        for variant in self.kernels.variants(row):
            # After the first call of a kernel with static and dynamic shapes, one kind is enough.
            for is_dynamic in (False,) if self._judged[row] > 1 else (False, True):
                arguments, outs = arguments_of(self.rows, row, given, expected)
                has_outs = self.rows.has_outs(row)
                self.kernels.run(
                    row, arguments, dynamic=outs if is_dynamic and has_outs else (), variant=variant
                )
                judge(row, function, given, outs, expected)
            if self._judged[row] <= _CALLS_BY_TRAITS:
                for arguments, outs in calls_by_traits(self.rows, row, given, expected):
                    self.kernels.run(row, arguments, variant=variant)
                    judge(row, function, given, outs, expected)


def calls_by_traits(
    rows: Rows, row: str, given: dict[str, Any], expected: Sequence[torch.Tensor]
) -> Iterator[tuple[list[Any], list[torch.Tensor]]]:
    """The arguments, and the out tensors among them, of additional calls that the row's traits allow: with
    each input like the out tensor as the out tensor, with the first two arguments swapped, and in other
    dim orders. Raises AssertionError if PyTorch's own result is not a view."""
    traits = rows.traits(row)
    if "in_place" in traits:
        for position, argument in enumerate(rows.overloads[row]._schema.arguments):
            if not argument.is_out and _are_alike(given[argument.name], expected[0]):
                arguments, _ = arguments_of(rows, row, given, expected)
                arguments[position] = arguments[-1] = given[argument.name].clone()
                yield arguments, [arguments[-1]]
    if "commutes" in traits and given.get("alpha", 1) == 1:
        arguments, outs = arguments_of(rows, row, given, expected)
        yield [arguments[1], arguments[0], *arguments[2:]], outs
    if "view" in traits:
        same = {"rtol": 0.0, "atol": 0.0, "equal_nan": True}
        torch.testing.assert_close(expected[0].flatten(), given["self"].flatten(), **same)
    # A list of outputs may be empty.
    if expected and rows.has_outs(row) and given.get("memory_format") is None:
        yield from _calls_in_orders(rows, row, given, expected)


def _calls_in_orders(
    rows: Rows, row: str, given: dict[str, Any], expected: Sequence[torch.Tensor]
) -> Iterator[tuple[list[Any], list[torch.Tensor]]]:
    """Calls whose tensors have dimension 1 innermost, as the row's traits allow."""
    traits, shape = rows.traits(row), expected[0].shape
    first = next((name for name, value in given.items() if isinstance(value, torch.Tensor)), None)
    if traits & {"reads_any_order", "any_order"}:
        wanted = set(given)
    elif "pointwise" in traits:
        wanted = {name for name, value in given.items() if getattr(value, "shape", None) == shape}
    elif "follows_order" in traits:
        wanted = {name for name, value in given.items() if _rank(value) == expected[0].dim()}
    elif "keeps_order" in traits and first is not None and given[first].dim() == 4:
        wanted = {first}
    else:
        return
    moved = {name: _last(value) if name in wanted else value for name, value in given.items()}
    arguments, outs = arguments_of(rows, row, moved, expected)
    if "reads_any_order" not in traits:
        pairs = [(out, _last(out)) for out in outs]
        arguments = [_replaced(argument, pairs) for argument in arguments]
        outs = [new for _, new in pairs]
    yield arguments, outs


def _replaced(argument: Any, pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """An argument, or each of a list, as the second of the pair that it is the first of."""
    if isinstance(argument, (tuple, list)):
        return [_replaced(each, pairs) for each in argument]
    return next((new for old, new in pairs if argument is old), argument)


def _rank(value: Any) -> int | None:
    """The rank of a tensor, or of the first tensor of a list."""
    first = value[0] if isinstance(value, (tuple, list)) and value else value
    return first.dim() if isinstance(first, torch.Tensor) else None


def _last(value: Any) -> Any:
    """A tensor, or each of a list, with dimension 1 innermost in memory."""
    if isinstance(value, (tuple, list)):
        return [_last(each) for each in value]
    if not isinstance(value, torch.Tensor) or value.dim() < 3:
        return value
    return with_dim_order(value, [0, *range(2, value.dim()), 1])


def _are_alike(value: Any, result: torch.Tensor) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and (value.dtype, value.shape) == (result.dtype, result.shape)
        and dim_order(value) == dim_order(result)
    )


@contextlib.contextmanager
def _views_resolved() -> Iterator[None]:
    """Within a mode PyTorch leaves out the step that resolves conjugated or negated views, and operators that
    call others on such views return wrong values: this restores the step.
    """
    keys = torch._C.DispatchKey
    without = torch._C._SetExcludeDispatchKeyGuard
    with without(keys.Conjugate, False), without(keys.Negative, False):
        yield


def _functional_form(function: Any) -> Any:
    """The operator that returns the values which an in-place operator writes to its first argument; None if
    there is none."""
    name = function._schema.name.removeprefix("aten::")
    packet = getattr(torch.ops.aten, name.rstrip("_"), None) if name.endswith("_") else None
    return getattr(packet, function._overloadname, None)


def arguments_of(
    rows: Rows, row: str, given: dict[str, Any], expected: Sequence[torch.Tensor]
) -> tuple[list[Any], list[torch.Tensor]]:
    """All arguments of a row in its schema's order, and the arguments that it writes: new outs for the
    expected results, or copies of the inputs that it writes.
    """
    schema = rows.overloads[row]._schema
    written = rows.written_inputs(row)
    values = {
        name: tree_map_only(torch.Tensor, torch.clone, value) if name in written else value
        for name, value in given.items()
    }
    outs = [_blank(value, "memory_format" in given) for value in expected if rows.has_outs(row)]
    left = list(outs)
    arguments = []
    for argument in schema.arguments:
        if not argument.is_out:
            arguments.append(values[argument.name])
        elif "List" in str(argument.type):
            arguments.append(left)
        else:
            arguments.append(left.pop(0))
    return arguments, outs or [values[name] for name in written]


def _blank(like: torch.Tensor, keeps_layout: bool) -> torch.Tensor:
    """An out tensor: row-major, unless the call asks for a layout."""
    layout = torch.preserve_format if keeps_layout else torch.contiguous_format
    return poison(torch.empty_like(like, memory_format=layout))


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with its values in memory, without gaps and overlaps, as kernels require."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    try:
        dim_order(tensor)
    except ValueError:
        return tensor.contiguous()
    return tensor.clone()


def _dtype_name(given: dict[str, Any], results: Sequence[torch.Tensor]) -> str:
    """The dtype of `self`, else of the first tensor of a call: "float32"."""
    first = given.get("self")
    if not isinstance(first, torch.Tensor):
        leaves = tree_leaves([first, given, results])
        first = next((leaf for leaf in leaves if isinstance(leaf, torch.Tensor)), None)
    return str(getattr(first, "dtype", None)).removeprefix("torch.")


def _with_offset(row: str, bound: dict[str, Any]) -> dict[str, Any]:
    """Without an offset as_strided starts at the tensor's offset in its storage."""
    if row != "aten::as_strided_copy.out" or bound["storage_offset"] is not None:
        return bound
    return bound | {"storage_offset": bound["self"].storage_offset()}


def _tensors_as_stored(row: str, value: Any) -> Any:
    if row == "aten::as_strided_copy.out":
        # The new tensor has the strides of the whole storage.
        return tree_map_only(torch.Tensor, lambda t: t.new_empty(0).set_(t.untyped_storage()), value)
    return tree_map_only(torch.Tensor, _dense, value)


def _numbers_as_tensors(given: dict[str, Any], schema: Any) -> dict[str, Any]:
    """PyTorch accepts scalars for tensors; programs hold such scalars as tensors of rank 0."""
    kinds = {argument.name: str(argument.type) for argument in schema.arguments}
    dtypes = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
    return {
        name: torch.tensor(value, dtype=dtypes[type(value)])
        if kinds[name] == "Tensor" and type(value) in dtypes
        else value
        for name, value in given.items()
    }


def described(given: dict[str, Any]) -> str:
    """Arguments as text: "self=float32[2, 3], dim=1"."""

    def of(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        return value

    return ", ".join(f"{name}={tree_map(of, value)}" for name, value in given.items()).replace("'", "")
