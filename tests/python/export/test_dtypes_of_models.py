# SPDX-License-Identifier: BSD-3-Clause
"""Models in every dtype that kernels have."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

from support.export.exported import check_export  # noqa: E402
from support.export.verdicts import TOLERANCES  # noqa: E402


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.out = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.nn.functional.gelu(self.norm(self.conv(x)))
        return self.out(x.mean((2, 3))).softmax(-1)


class Arithmetic(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x + y, x * 3 - y, torch.maximum(x, y), x == y, x.sum(), torch.where(x > y, x, y)


class Waves(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        transformed = torch.fft.fft(x.to(torch.complex64))
        return transformed, transformed.abs(), torch.view_as_real(transformed), transformed * 2j


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_a_network_runs_in_any_float(dtype: str) -> None:
    kind = getattr(torch, dtype)
    model = Network().eval().to(kind)
    inputs = [(torch.randn(2, 2, 5, 5, dtype=kind),) for _ in range(2)]
    check_export(model, inputs[0], more=inputs[1:], tolerance=TOLERANCES.get(dtype, 1e-4))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_arithmetic_runs_in_any_integer(dtype: str) -> None:
    kind = getattr(torch, dtype)
    inputs = [tuple(torch.randint(0, 30, (3, 4), dtype=kind) for _ in range(2)) for _ in range(2)]
    check_export(Arithmetic(), inputs[0], more=inputs[1:])


def test_dtypes_mix_as_in_pytorch() -> None:
    values = torch.arange(6).reshape(2, 3)
    check_export(Arithmetic(), (values, values.flip(0).float()))
    check_export(Arithmetic(), (values.to(torch.int8), values.flip(0).to(torch.float16)))


def test_complex_numbers_run() -> None:
    check_export(Waves(), (torch.randn(8),), more=[(torch.randn(8),)])


def test_complex_numbers_go_in() -> None:
    class Turned(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return x.conj() * x, x.real + x.imag

    check_export(Turned(), (torch.randn(4, dtype=torch.complex64),))


def test_booleans_run() -> None:
    class Logic(nn.Module):
        def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
            return a & b, a | ~b, a ^ b, a.any(), b.all(0), a.sum()

    check_export(Logic(), (torch.rand(3, 4) > 0.5, torch.rand(3, 4) > 0.5))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=["rows", "channels"])
def test_images_run_in_either_layout(layout: torch.memory_format) -> None:
    model = Network().eval().to(memory_format=layout)
    inputs = [(torch.randn(2, 2, 5, 5).contiguous(memory_format=layout),) for _ in range(2)]
    check_export(model, inputs[0], more=inputs[1:])
