# SPDX-License-Identifier: BSD-3-Clause
"""Removes pure checks: assertions on scalars and tensor metadata, and bounds stated for the tracer."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from rushlight.export.graph.nodes import graph_modules
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten
_CHECKS = {
    aten._linalg_check_errors.default,
    aten._assert_scalar.default,
    aten._assert_async.msg,
    aten._assert_async.default,
    aten._assert_tensor_metadata.default,
    aten.sym_constrain_range.default,
    aten.sym_constrain_range_for_size.default,
    aten._functional_assert_async.msg,
    aten._functional_assert_scalar.default,
    aten._functional_sym_constrain_range.default,
    aten._functional_sym_constrain_range_for_size.default,
    torch._check,
    torch._check_is_size,
}


class RemoveAssertions(Pass):
    """The runtime checks shapes itself, and a program does not store assertion messages. A check for which
    the runtime has an operator stays, such as the one for singular matrices."""

    name = "remove_assertions"
    ensures = frozenset({"no assertions"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        gone = 0
        for module in graph_modules(program.graph_module):
            for node in list(module.graph.nodes):
                is_check = node.op == "call_function" and node.target in _CHECKS
                if is_check and context.library.find(node.target) is None:
                    # Some checks return the token of the previous one, which nothing but the next check
                    # reads.
                    for user in list(node.users):
                        user.replace_input_with(node, None)
                    module.graph.erase_node(node)
                    gone += 1
        return gone > 0
