# SPDX-License-Identifier: BSD-3-Clause
"""Converts operators that PyTorch orders by effect tokens to plain calls; a program is ordered anyway."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.export._remove_effect_tokens_pass import _remove_effect_tokens
from torch.export.graph_signature import InputKind

from rushlight.export.passes.base import Pass, PassContext


class RemoveEffectTokens(Pass):
    """Rewrites `with_effects(token, check, x)` to `check(x)` and removes the tokens."""

    name = "remove_effect_tokens"
    ensures = frozenset({"no tokens"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        if all(spec.kind is not InputKind.TOKEN for spec in program.graph_signature.input_specs):
            return False
        _remove_effect_tokens(program)
        return True
