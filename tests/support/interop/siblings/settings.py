# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the exporter: memory planning, alignment, views, external data, preserved operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, naive
from executorch.exir.passes import MemoryPlanningPass
from torch import Tensor, nn
from torch.nn import functional

from support.interop.models import Fn
from support.interop.official import Case, one


class Viewing(nn.Module):
    """Layers with views between them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.linear = nn.Linear(36, 6)

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(self.conv(x.view(-1, 1, 5, 5)).relu().flatten(1))
        return y.view(-1, 2, 3).transpose(1, 2).reshape(-1, 6) + y


class Weights(nn.Module):
    """Two layers and a table, to be stored in different files."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 3)
        self.register_buffer("table", torch.randn(3))

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x).relu()) * self.table


def _planned(**settings: Any) -> Case:
    return one(
        Viewing(),
        *[(torch.randn(2, 25),) for _ in range(2)],
        backend=lambda: ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(**settings)),
    )


def _with(**settings: Any) -> Case:
    return one(Viewing(), (torch.randn(2, 25),), backend=lambda: ExecutorchBackendConfig(**settings))


def _dynamic(**settings: Any) -> Case:
    return one(
        Viewing(),
        *[(torch.randn(n, 25),) for n in (3, 1, 8)],
        dynamic_shapes=({0: torch.export.Dim("n", min=1, max=8)},),
        backend=lambda: ExecutorchBackendConfig(**settings),
    )


def _external(**settings: Any) -> Case:
    return one(Weights(), (torch.randn(2, 6),), backend=lambda: ExecutorchBackendConfig(**settings))


class Banks(MemoryPlanningAlgorithmSuite):
    """Puts the convolution's output into separate memory, id 2."""

    def __call__(self, alignment: int, specs: Any, *rest: Any) -> list[int]:
        for spec in specs:
            if len(spec.shape) == 4 and spec.shape[1] == 4:
                spec.mem_id = 2
        return super().__call__(alignment, specs, *rest)


def _preserved(module: nn.Module, *inputs: Tensor, operators: list[Any]) -> Case:
    """Operators that are not decomposed when lowered to the edge dialect."""
    return one(module, inputs, edge=EdgeCompileConfig(preserve_ops=operators, _check_ir_validity=False))


aten = torch.ops.aten

CASES: dict[str, Callable[[], Case]] = {
    "default": lambda: _with(),
    "inputs_not_planned": lambda: _planned(alloc_graph_input=False),
    "outputs_not_planned": lambda: _planned(alloc_graph_output=False),
    "neither_planned": lambda: _planned(alloc_graph_input=False, alloc_graph_output=False),
    "neither_planned_dynamic": lambda: _dynamic(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    ),
    "overlap": lambda: _planned(allow_lifetime_and_storage_overlap=True),
    "aligned_64": lambda: _planned(alignment=64),
    "aligned_1": lambda: _planned(alignment=1),
    "naive_planner": lambda: _planned(memory_planning_algo=MemoryPlanningAlgorithmSuite([naive])),
    "banks": lambda: _planned(memory_planning_algo=Banks()),
    "views_copied": lambda: _with(remove_view_copy=False),
    "views_copied_dynamic": lambda: _dynamic(remove_view_copy=False),
    "views_dynamic": lambda: _dynamic(),
    "stacktrace": lambda: _with(emit_stacktrace=True),
    "segments_4096": lambda: _with(segment_alignment=4096),
    "constants_64": lambda: _with(constant_tensor_alignment=64),
    "reinplace": lambda: _with(run_reinplace_pass=True),
    "delegates_inline": lambda: _with(extract_delegate_segments=False),
    "quant_fusion": lambda: _with(do_quant_fusion_and_const_prop=True),
    "no_dim_order": lambda: one(
        nn.Conv2d(3, 4, 3), (torch.randn(1, 3, 6, 6),), edge=EdgeCompileConfig(_skip_dim_order=True)
    ),
    "no_dim_order_copies": lambda: one(
        Fn(lambda x: (x.to(torch.int32), x.clone(), torch.zeros_like(x), x.contiguous())),
        (torch.randn(2, 3) * 5,),
        edge=EdgeCompileConfig(_skip_dim_order=True),
    ),
    "external_all": lambda: _external(external_constants=True),
    "external_some": lambda: _external(
        external_constants=lambda node: "table" if "table" in node.name else None
    ),
    "external_two_files": lambda: _external(
        external_constants=lambda node: "first" if "first" in node.name else "rest"
    ),
    "external_mutable_weights": lambda: _external(external_mutable_weights=True),
    "preserved_linear": lambda: _preserved(
        nn.Linear(4, 3), torch.randn(2, 4), operators=[aten.linear.default]
    ),
    "preserved_pixel_shuffle": lambda: _preserved(
        Fn(lambda x: functional.pixel_shuffle(x, 2)),
        torch.randn(1, 8, 3, 3),
        operators=[aten.pixel_shuffle.default],
    ),
    "big": lambda: one(nn.Linear(2048, 1024), (torch.randn(1, 2048),), tolerance=1e-4),
}
