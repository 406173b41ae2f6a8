# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

from rushlight.export.passes.fold_batch_norm import FoldBatchNorm  # noqa: E402
from rushlight.export.passes.merge_convolutions import MergeConvolutions  # noqa: E402
from rushlight.export.passes.remove_dead_code import RemoveDeadCode  # noqa: E402
from support.graphs import apply, assert_same, core_aten, operators  # noqa: E402

IMAGE = torch.randn(2, 4, 9, 8)


class Sum(nn.Module):
    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        total = self.branches[0](x)
        for branch in list(self.branches)[1:]:
            total = total + branch(x)
        return total


def norm(channels: int) -> nn.BatchNorm2d:
    made = nn.BatchNorm2d(channels)
    for each in (made.weight, made.bias, made.running_mean):
        nn.init.normal_(each)
    nn.init.uniform_(made.running_var, 0.5, 2)
    return made


def merged(model: nn.Module, *args: Any) -> list[str]:
    model = model.eval()
    program = core_aten(model, args or (IMAGE,))
    apply(program, FoldBatchNorm(), MergeConvolutions(), RemoveDeadCode())
    assert_same(program, model, *(args or (IMAGE,)), atol=1e-5, rtol=1e-4)
    return operators(program)


MERGED: dict[str, list[nn.Module]] = {
    "RepVGG": [
        nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), norm(4)),
        nn.Sequential(nn.Conv2d(4, 4, 1, bias=False), norm(4)),
        norm(4),
    ],
    "strided": [nn.Conv2d(4, 6, 3, 2, 1), nn.Conv2d(4, 6, 1, 2, bias=False)],
    "the small kernel first": [nn.Conv2d(4, 6, 1, bias=False), nn.Conv2d(4, 6, 5, padding=2)],
    "depthwise": [nn.Conv2d(4, 8, 3, padding=1, groups=4), nn.Conv2d(4, 8, 1, groups=4)],
    "groups beside a norm": [nn.Conv2d(4, 4, 3, padding=1, groups=2), norm(4)],
    "rows and columns": [nn.Conv2d(4, 6, (1, 3), padding=(0, 1)), nn.Conv2d(4, 6, (1, 1))],
    "dilated": [nn.Conv2d(4, 6, 3, padding=2, dilation=2), nn.Conv2d(4, 6, 1, dilation=2)],
}


@pytest.mark.parametrize("name", MERGED)
def test_branches_of_one_input_become_one_convolution(name: str) -> None:
    assert merged(Sum(*MERGED[name])) == ["convolution"]


def test_other_ranks_merge_too() -> None:
    signal = Sum(nn.Conv1d(4, 4, 3, padding=1), nn.Conv1d(4, 4, 1))
    assert merged(signal, torch.randn(1, 4, 7)) == ["convolution"]
    volume = Sum(nn.Conv3d(2, 3, 3, padding=1), nn.Conv3d(2, 3, 1))
    assert merged(volume, torch.randn(1, 2, 4, 5, 3)) == ["convolution"]


APART: dict[str, list[nn.Module]] = {
    "neither covers the other": [
        nn.Conv2d(4, 6, (1, 3), padding=(0, 1)),
        nn.Conv2d(4, 6, (3, 1), padding=(1, 0)),
    ],
    "other strides": [nn.Conv2d(4, 4, 1, 1), nn.Sequential(nn.Conv2d(4, 4, 2, 2), nn.Upsample((9, 8)))],
    "other groups": [nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 1, groups=2)],
    "other dilation": [nn.Conv2d(4, 6, 3, padding=2, dilation=2), nn.Conv2d(4, 6, 3, padding=1)],
    "taps between the taps of the large kernel": [
        nn.Conv2d(4, 6, 3, padding=2, dilation=2),
        nn.Conv2d(4, 6, 2, padding=1, dilation=2),
    ],
    "a norm beside more outputs": [nn.Conv2d(4, 8, 1), nn.Sequential(norm(4), nn.Conv2d(4, 8, 1), nn.ReLU())],
    "another input": [nn.Sequential(nn.ReLU(), nn.Conv2d(4, 4, 1)), nn.Conv2d(4, 4, 3, padding=1)],
}


@pytest.mark.parametrize("name", APART)
def test_other_branches_stay_apart(name: str) -> None:
    sizes = {each(IMAGE).shape for each in Sum(*APART[name]).eval().branches}
    if len(sizes) == 1:
        assert merged(Sum(*APART[name])).count("convolution") == 2


def test_a_result_with_another_reader_stays() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.three = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3, padding=1)

        def forward(self, x: Tensor) -> Any:
            y = self.one(x)
            return y + self.three(x), y

    assert merged(Both()) == ["convolution", "convolution", "add"]
