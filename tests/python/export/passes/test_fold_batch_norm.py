# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram

from rushlight.export.passes.fold_batch_norm import FoldBatchNorm
from support.graphs import apply, assert_same, core_aten, operators

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def trained(module: nn.Module) -> nn.Module:
    """With statistics and weights that do something."""
    for part in module.modules():
        if isinstance(part, NORMS):
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2)
            if part.affine:
                nn.init.normal_(part.weight)
                nn.init.normal_(part.bias)
    return module.eval()


def folded(module: nn.Module, *sizes: int, dtype: torch.dtype = torch.float32) -> ExportedProgram:
    x = torch.randn(*sizes, dtype=dtype)
    program = core_aten(module, (x,))
    apply(program, FoldBatchNorm())
    assert_same(program, module, x, atol=1e-5, rtol=1e-4)
    return program


FOLDED = {
    "convolution with bias": (nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), (2, 3, 6, 6)),
    "convolution without bias": (nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), (2, 3, 6, 6)),
    "no affine": (nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, affine=False), (2, 3, 6, 6)),
    "groups": (nn.Conv2d(4, 8, 3, groups=2), nn.BatchNorm2d(8), (2, 4, 6, 6)),
    "depthwise": (nn.Conv2d(4, 4, 3, groups=4), nn.BatchNorm2d(4), (2, 4, 6, 6)),
    "transposed": (nn.ConvTranspose2d(3, 8, 3), nn.BatchNorm2d(8), (2, 3, 4, 4)),
    "transposed in groups": (nn.ConvTranspose2d(4, 6, 3, groups=2), nn.BatchNorm2d(6), (2, 4, 4, 4)),
    "one dimension": (nn.Conv1d(3, 8, 3), nn.BatchNorm1d(8), (2, 3, 6)),
    "three dimensions": (nn.Conv3d(3, 4, 2), nn.BatchNorm3d(4), (1, 3, 4, 4, 4)),
    "more than one part": (nn.Conv2d(64, 128, 3), nn.BatchNorm2d(128), (1, 64, 4, 4)),
    "linear": (nn.Linear(3, 8), nn.BatchNorm1d(8), (2, 3)),
    "linear without bias": (nn.Linear(3, 8, bias=False), nn.BatchNorm1d(8), (2, 3)),
}


@pytest.mark.parametrize("name", FOLDED)
def test_a_normalization_goes_into_the_layer_before(name: str) -> None:
    layer, norm, sizes = FOLDED[name]
    program = folded(trained(nn.Sequential(layer, norm, nn.ReLU())), *sizes)
    assert operators(program) in (["convolution", "relu"], ["linear", "relu"])
    assert len(program.graph_signature.input_specs) == 3


def test_weights_keep_their_dtype() -> None:
    module = trained(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))).double()
    program = folded(module, 1, 3, 6, 6, dtype=torch.float64)
    (convolution,) = (n for n in program.graph.nodes if n.op == "call_function")
    assert [n.meta["val"].dtype for n in convolution.all_input_nodes] == [torch.float64] * 3


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.convolution(x)
        return self.norm(y) + y


def test_a_convolution_that_others_read_stays() -> None:
    assert "_native_batch_norm_legit_no_training" in operators(folded(trained(Twice()), 1, 3, 6, 6))


class SharedWeight(Twice):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.convolution(x)) + self.convolution(x.flip(2))


def test_a_weight_that_others_read_stays() -> None:
    assert "_native_batch_norm_legit_no_training" in operators(folded(trained(SharedWeight()), 1, 3, 6, 6))


def test_a_normalization_without_a_layer_before_stays() -> None:
    program = folded(trained(nn.Sequential(nn.ReLU(), nn.BatchNorm2d(3))), 1, 3, 6, 6)
    assert operators(program)[:2] == ["relu", "_native_batch_norm_legit_no_training"]


def test_a_linear_layer_whose_features_are_not_the_channels_stays() -> None:
    program = folded(trained(nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(4))), 2, 4, 6)
    assert operators(program)[:2] == ["linear", "_native_batch_norm_legit_no_training"]


def test_statistics_of_the_batch_are_not_folded() -> None:
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, track_running_stats=False)).eval()
    program = folded(module, 2, 3, 6, 6)
    assert len(operators(program)) > 1


def test_several_layers_are_folded_in_one_go() -> None:
    layers = [part for _ in range(3) for part in (nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU())]
    program = folded(trained(nn.Sequential(*layers)), 1, 4, 9, 9)
    assert operators(program) == ["convolution", "relu"] * 3
