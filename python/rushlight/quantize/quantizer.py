# SPDX-License-Identifier: BSD-3-Clause
"""A quantizer for torchao's pt2e flow that assigns a scheme to each module."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import Quantizer

from rushlight.errors import InvalidArgument
from rushlight.quantize.config import Dynamic, Scheme, Static, WeightOnly
from rushlight.quantize.inplace import replace_inplace
from rushlight.quantize.patterns import PATTERNS
from rushlight.quantize.patterns.base import is_annotated
from rushlight.quantize.patterns.moving import forget_unread
from rushlight.quantize.recurrent import Expansion, expand_recurrent
from rushlight.quantize.scope import module_paths, module_stack, type_name
from rushlight.quantize.specs import Specs
from rushlight.quantize.summary import Report, make_report

ModuleType = type[torch.nn.Module] | str


class RushlightQuantizer(Quantizer):
    """Annotates a graph for prepare_pt2e and prepare_qat_pt2e.

    A module's name has priority over its type, and both over the default; among names the longest match
    wins, among types the innermost module. None leaves a module in float.

    Args:
        default: the scheme of all other modules.
        by_module_name: schemes by path; a path includes all modules inside ("encoder.layers").
        by_module_type: schemes by class, or by full class name ("torch.nn.modules.linear.Linear").
        unroll: True expands recurrent layers to single steps, which can be quantized. None does so if int8
            weights save more bytes than the steps take. LSTM and GRU layers with Static() that are not
            unrolled become one operator per layer and direction.
        training: insert fake quantization instead of observers, for prepare_qat_pt2e.

    `report` describes the graph that was annotated last. Errors: InvalidArgument for a value that is no
    scheme.

    Example:
        quantizer = RushlightQuantizer(Static(), by_module_name={"head": None})
    """

    def __init__(
        self,
        default: Scheme | None = Static(),  # noqa: B008 (frozen)
        *,
        by_module_name: Mapping[str, Scheme | None] | None = None,
        by_module_type: Mapping[ModuleType, Scheme | None] | None = None,
        unroll: bool | None = None,
        training: bool = False,
    ) -> None:
        super().__init__()
        self.default = _scheme(default, "default")
        self.by_module_name = {
            n: _scheme(s, f"by_module_name['{n}']") for n, s in (by_module_name or {}).items()
        }
        self.by_module_type = {
            kind if isinstance(kind, str) else type_name(kind): _scheme(scheme, f"by_module_type[{kind}]")
            for kind, scheme in (by_module_type or {}).items()
        }
        self.unroll = unroll
        self.training = training
        self.report = Report(0)
        self._recurrent = Expansion()

    def for_training(self) -> RushlightQuantizer:
        """A copy that inserts fake quantization."""
        other = copy.copy(self)
        other.training = True
        return other

    def schemes(self) -> list[Scheme]:
        """All schemes that the quantizer can assign."""
        given = [self.default, *self.by_module_name.values(), *self.by_module_type.values()]
        return [scheme for scheme in given if scheme is not None]

    def scheme_of(self, node: Node) -> Scheme | None:
        """The scheme of the module that the node comes from."""
        stack = module_stack(node)
        names = [path for path, _ in reversed(stack) if path in self.by_module_name]
        if names:
            return self.by_module_name[names[0]]
        types = [kind for _, kind in reversed(stack) if kind in self.by_module_type]
        return self.by_module_type[types[0]] if types else self.default

    def check_names(self, model: GraphModule) -> None:
        """Errors: InvalidArgument for a path in by_module_name from which no operator of the graph comes."""
        known = module_paths(model)
        for name in self.by_module_name:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=3)
                hint = f"; did you mean {' or '.join(near)}?" if near else ""
                raise InvalidArgument(f"by_module_name: expected a module with operators, got '{name}'{hint}")

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """See Quantizer."""
        self._recurrent = expand_recurrent(model, self.scheme_of, unroll=self.unroll, whole=not self.training)
        replace_inplace(model)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        """See Quantizer."""
        nodes = [node for node in model.graph.nodes if node.op == "call_function"]
        for node in nodes:
            scheme = None if is_annotated(node) else self.scheme_of(node)
            if scheme is not None:
                specs = Specs(scheme, self.training)
                any(pattern(node, specs) for pattern in PATTERNS)
        forget_unread(nodes)
        self.report = make_report(nodes, self.scheme_of, self._recurrent.kept, self._recurrent.unrolled)
        return model

    def validate(self, model: GraphModule) -> None:
        """See Quantizer. Accepts everything: each annotation can be computed."""


def _scheme(given: object, name: str) -> Scheme | None:
    if given is None or isinstance(given, (Static, Dynamic, WeightOnly)):
        return given
    raise InvalidArgument(f"{name}: expected Static, Dynamic, WeightOnly or None, got {given!r}")
