# SPDX-License-Identifier: BSD-3-Clause
"""Applies the rules to a graph and reports which operators compute in integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rushlight.integers.graph import Call, Graph
from rushlight.integers.rules import RULES, Refusal, Rule, Settings
from rushlight.integers.rules.movement import raise_quantizations


@dataclass
class Report:
    """The result for a graph: the operators of replaced calls, and refused calls with the reason."""

    replaced: list[str] = field(default_factory=list)
    refused: list[tuple[Call, str]] = field(default_factory=list)


def rewrite_graph(graph: Graph, settings: Settings = Settings()) -> Report:  # noqa: B008
    """Rewrites every quantized subgraph that the rules match.

    First, quantizations are moved before operators that only reorder elements, so that they follow the
    computing operator. Then one pass in order of execution suffices, because rules move dequantize only
    towards the outputs.
    """
    report = Report()
    report.replaced += raise_quantizations(graph)
    apply(graph, RULES, settings, report)
    return report


def apply(graph: Graph, rules: Mapping[str, Rule], settings: Settings, report: Report) -> None:
    """Applies rules to each call, in order of execution."""
    for call in list(graph.calls()):
        rule = rules.get(call.operator) if graph.is_present(call) else None
        if rule is None:
            continue
        name = call.operator
        try:
            if rule(graph, call, settings):
                report.replaced.append(name)
        except Refusal as reason:
            if reason.is_changed:
                report.replaced.append(name)
            report.refused.append((call, str(reason)))
