# SPDX-License-Identifier: BSD-3-Clause
"""The passes in order, and the points for users' passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch.export import ExportedProgram

from rushlight.errors import ExportFailed, InvalidArgument, RushlightError
from rushlight.export.order.assign import DimOrders
from rushlight.export.order.channels_last import ChannelsLast
from rushlight.export.passes import FunctionPass, Pass, PassContext
from rushlight.export.passes.arrange_weights import ArrangeWeights
from rushlight.export.passes.common_subexpressions import CommonSubexpressions
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.compute_late import ComputeLate
from rushlight.export.passes.constant_products import ConstantProducts
from rushlight.export.passes.drop_expansions import DropExpansions
from rushlight.export.passes.drop_indices import DropIndices
from rushlight.export.passes.drop_zero_points import DropZeroPoints
from rushlight.export.passes.fold_batch_norm import FoldBatchNorm
from rushlight.export.passes.fold_constants import FoldConstants
from rushlight.export.passes.fold_scales import FoldScales
from rushlight.export.passes.full_by_sizes import FullBySizes
from rushlight.export.passes.fuse import Fuse
from rushlight.export.passes.fuse_activation import FuseActivation
from rushlight.export.passes.fuse_attention import FuseAttention
from rushlight.export.passes.fuse_rms_norm import FuseRmsNorm
from rushlight.export.passes.grouped_attention import GroupedAttention
from rushlight.export.passes.grouped_weights import GroupedWeights
from rushlight.export.passes.lift_scalars import LiftScalars
from rushlight.export.passes.merge_convolutions import MergeConvolutions
from rushlight.export.passes.merge_views import MergeViews
from rushlight.export.passes.number_nodes import NumberNodes
from rushlight.export.passes.quantize_io import QuantizeIo
from rushlight.export.passes.remove_assertions import RemoveAssertions
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.export.passes.remove_effect_tokens import RemoveEffectTokens
from rushlight.export.passes.remove_no_ops import RemoveNoOps
from rushlight.export.passes.simplify_arithmetic import SimplifyArithmetic
from rushlight.export.passes.verify_edge import VerifyEdge
from rushlight.export.passes.views_to_copies import ViewsToCopies

# The points for users' passes, each after the stage of the same name.
POINTS = ("aten", "core_aten", "edge", "delegated")

UserPasses = Mapping[str, Sequence[Any]]


def core_aten_passes() -> list[Pass]:
    """The passes from decomposed Core ATen to the edge dialect."""
    return [
        RemoveEffectTokens(),
        RemoveAssertions(),
        ViewsToCopies(),
        RemoveNoOps(),
        FullBySizes(),
        SimplifyArithmetic(),
        MergeViews(),
        DropExpansions(),
        CommonSubexpressions(),  # before folding, which counts a constant's readers
        FoldConstants(),
        FoldBatchNorm(),
        MergeConvolutions(),
        FuseAttention(),
        GroupedWeights(),
        DropZeroPoints(),
        Fuse(),  # before scalars become tensors
        FoldScales(),
        LiftScalars(),
        RemoveDeadCode(),
        ComputeLate(),
        DimOrders(),
    ]


def numbering_passes() -> list[Pass]:
    """The passes before partitioning, since backends use debug handles."""
    return [NumberNodes()]


def delegated_passes(channels_last_for: str = "none", quantize_io: QuantizeIo | None = None) -> list[Pass]:
    """The passes after partitioning, since backends match PyTorch's operators in the model's dim orders."""
    moved = [] if channels_last_for == "none" else [ChannelsLast(channels_last_for)]
    fused = [ConstantProducts(), DropIndices(), FuseRmsNorm(), GroupedAttention(), FuseActivation()]
    ends = [] if quantize_io is None else [quantize_io]
    return [
        ComputeInIntegers(),
        *ends,  # now quantize is adjacent to the inputs it can move to
        *fused,
        *moved,
        RemoveDeadCode(),
        DimOrders(),
        ArrangeWeights(),
        NumberNodes(),
        VerifyEdge(),
    ]


@dataclass
class PassRun:
    """One execution of a pass."""

    name: str
    modified: bool
    seconds: float


@dataclass
class PassRunner:
    """Runs passes over one program and tracks which passes ran and which properties hold."""

    context: PassContext
    done: list[PassRun] = field(default_factory=list)
    holds: set[str] = field(default_factory=set)

    def run(self, passes: Sequence[Pass], program: ExportedProgram) -> None:
        """Runs each pass once, in order.

        Errors: ExportFailed naming the pass and its predecessors if it raised or a required property does
        not hold.
        """
        for each in passes:
            missing = each.requires - self.holds
            if missing:
                raise ExportFailed(
                    f"pass {each}: expected {', '.join(sorted(missing))} to hold; {self._history()}"
                )
            start = time.perf_counter()
            try:
                modified = each.run(program, self.context)
            except RushlightError:
                raise
            except Exception as error:
                raise ExportFailed(
                    f"pass {each}: {type(error).__name__}: {error}; {self._history()}"
                ) from error
            self.context.history.append(str(each))
            self.done.append(PassRun(str(each), modified, time.perf_counter() - start))
            self.holds = (self.holds - each.breaks) | each.ensures

    def _history(self) -> str:
        names = self.context.history
        return f"after {', '.join(names)}" if names else "it was the first"


def user_passes(given: UserPasses | Sequence[Any] | None) -> dict[str, list[Pass]]:
    """The user's passes by point; a plain sequence is for "edge".

    Errors: InvalidArgument for an unknown point.
    """
    by_point = given if isinstance(given, Mapping) else {"edge": list(given or [])}
    for point in by_point:
        if point not in POINTS:
            raise InvalidArgument(f"passes: expected a point of {', '.join(POINTS)}, got '{point}'")
    return {point: [_as_pass(each) for each in by_point.get(point, ())] for point in POINTS}


def _as_pass(given: Pass | Callable[[Any], Any]) -> Pass:
    if isinstance(given, Pass):
        return given
    if not callable(given):
        raise InvalidArgument(f"passes: expected passes or functions of a graph module, got {given!r}")
    return FunctionPass(given)
