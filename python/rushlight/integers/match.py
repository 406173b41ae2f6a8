# SPDX-License-Identifier: BSD-3-Clause
"""Applies the rules to a graph, and says which operators compute in integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rushlight.integers.graph import Call, Graph
from rushlight.integers.rules import RULES, Refusal, Rule, Settings
from rushlight.integers.rules.movement import raise_quantizations


@dataclass
class Report:
    """What became of a graph: the calls whose operators were replaced, and those that were refused, with the
    reason."""

    replaced: list[str] = field(default_factory=list)
    refused: list[tuple[Call, str]] = field(default_factory=list)


def turn(graph: Graph, settings: Settings = Settings()) -> Report:  # noqa: B008
    """Turn all that the rules know into integers.

    First, what quantizes moved elements quantizes them before they move: then it stands behind the operator
    that made them. After that one pass in the order of execution is enough, as a rule only lets dequantize
    move towards the end.
    """
    report = Report()
    report.replaced += raise_quantizations(graph)
    apply(graph, RULES, settings, report)
    return report


def apply(graph: Graph, rules: Mapping[str, Rule], settings: Settings, report: Report) -> None:
    """Apply rules to each call, in the order of execution."""
    for call in list(graph.calls()):
        rule = rules.get(call.operator) if graph.is_there(call) else None
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
