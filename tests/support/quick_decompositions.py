# SPDX-License-Identifier: BSD-3-Clause
"""Caches the tables that PyTorch prepares for each run of decompositions, once a process.

ExportedProgram.run_decompositions looks through all operators for composite ones and puts some 11,000
functions into their tables of kernels, which it takes out again. That is most of the time of a small
export, and the suite exports some thousands of times, by this exporter and by the official one. This
module keeps the resulting tables for the next run; PyTorch computes them again if an operator, its kernels
or its rule differ. Tests that start a separate process, as the command line's do, use unchanged PyTorch.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_MODULES = "torch.export.exported_program", "torch.export.decomp_utils"
"""Both search for composite operators; the first one also puts its rules before them."""

Rules = dict[Any, Callable[..., Any]]


@dataclass(frozen=True)
class _Prepared:
    """The cache entry of one operator and rule: the operator's kernels before and after, and the function
    that computes the facts of its tensors."""

    before: dict[Any, Any]
    after: dict[Any, Any]
    facts: Callable[..., Any]


def install() -> None:
    """Replaces functions of PyTorch's modules, if this process has loaded them and they are unchanged."""
    if any(name not in sys.modules for name in _MODULES):
        return
    exported, tables = (sys.modules[name] for name in _MODULES)
    if hasattr(exported._override_composite_implicit_decomp, "original"):
        return
    exported._override_composite_implicit_decomp = once_made(exported._override_composite_implicit_decomp)
    collect = once_collected(exported._collect_all_valid_cia_ops)
    exported._collect_all_valid_cia_ops = tables._collect_all_valid_cia_ops = collect


def once_collected(original: Callable[[], set[Any]]) -> Callable[[], set[Any]]:
    """Searches again if operators or namespaces were added."""
    import torch

    @functools.lru_cache(maxsize=1)
    def collected(operators: int, composite: int, namespaces: int) -> set[Any]:
        return original()

    def collect() -> set[Any]:
        composite = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
        operators = len(torch._C._dispatch_get_all_op_names())
        return collected(operators, len(composite), len(torch.ops._dir))

    return collect


def once_made(original: Callable[[Rules], Any]) -> Callable[[Rules], Any]:
    from torch._subclasses.fake_impls import op_implementations_dict as facts

    made: dict[tuple[Any, Any], _Prepared] = {}

    def prepared(operator: Any, rule: Callable[..., Any]) -> _Prepared | None:
        found = made.get((operator, _name_of(rule)))
        holds = found is not None and operator not in facts and operator.py_kernels == found.before
        return found if holds else None

    @contextmanager
    def override(rules: Rules) -> Iterator[None]:
        every = {operator: prepared(operator, rule) for operator, rule in rules.items()}
        known = {operator: found for operator, found in every.items() if found is not None}
        rest = {operator: rule for operator, rule in rules.items() if operator not in known}
        before = {operator: dict(operator.py_kernels) for operator in rest if operator not in facts}
        with original(rest):
            for operator, kernels in before.items():
                after = dict(operator.py_kernels)
                made[operator, _name_of(rules[operator])] = _Prepared(kernels, after, facts[operator])
            for operator, found in known.items():
                _put(operator, found.after)
                facts[operator] = found.facts
            try:
                yield
            finally:
                for operator, found in known.items():
                    _put(operator, found.before)
                    facts.pop(operator, None)

    override.original = original  # type: ignore[attr-defined]
    return override


def _put(operator: Any, kernels: dict[Any, Any]) -> None:
    operator.py_kernels.clear()
    operator.py_kernels.update(kernels)
    operator._dispatch_cache.clear()


def _name_of(rule: Callable[..., Any]) -> Any:
    """The rule itself, or the name of the function that calls the operator's own composite kernel: PyTorch
    creates a new one for each table."""
    return rule.func.__qualname__ if isinstance(rule, functools.partial) else rule
