# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc

import pytest
import torch

import rushlight


class Asks(torch.nn.Module):
    """Notes whether cycles are collected while it is traced."""

    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        self.fails, self.collecting = fails, []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.collecting.append(gc.isenabled())
        if self.fails:
            raise ValueError("as asked")
        return x.sin()


def test_cycles_are_collected_after_an_export_again() -> None:
    module = Asks()
    rushlight.export(module, (torch.randn(2),))
    assert not any(module.collecting)
    assert gc.isenabled()


def test_cycles_are_collected_after_an_export_that_fails() -> None:
    with pytest.raises(Exception, match="as asked"):
        rushlight.export(Asks(fails=True), (torch.randn(2),))
    assert gc.isenabled()


def test_who_collects_by_himself_is_left_alone() -> None:
    gc.disable()
    try:
        rushlight.export(Asks(), (torch.randn(2),))
        assert not gc.isenabled()
    finally:
        gc.enable()
