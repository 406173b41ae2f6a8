# SPDX-License-Identifier: BSD-3-Clause
"""Operators on integers on all targets: the bytes of the definitions, which tests/kernels/test_quantized_*.py
also compare with the host's kernels. Convolutions and linear layers are in test_quantized_products.py."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  # defines operators

from rushlight import targets
from rushlight.codegen.table import load_table
from rushlight.export.dialect import (  # noqa: F401  # they define the operators
    grouped,
    integer_attention,
    integer_images,
    integer_norm,
    integer_recurrent,
    integers,
)
from rushlight.integers.arithmetic import ROUNDINGS, requantization
from rushlight.integers.rules import images
from rushlight.integers.rules.attention import exponentials
from rushlight.integers.rules.norm import fixed_point
from rushlight.sources import source_root
from support import recurrent_samples
from support.boards import need
from support.calls_program import computed
from support.harness import with_dim_order
from support.opinfo.recording import RecordedCall
from support.quantized_products import CONVOLUTION, LINEAR

pytestmark = pytest.mark.device

OPERATORS = load_table(source_root() / "kernels" / "ops.yaml").operators
Arguments = tuple[str, list[Any]]


class Draw:
    """Random arguments for a dtype and a rounding, the same for a seed."""

    def __init__(self, seed: int, dtype: torch.dtype, rounding: str) -> None:
        self._numbers = np.random.default_rng(seed)
        self._torch = torch.Generator().manual_seed(seed)
        self.dtype, self.info, self.rounding = dtype, torch.iinfo(dtype), rounding

    def tensor(self, *shape: int) -> torch.Tensor:
        """Values of the whole range."""
        drawn = torch.randint(self.info.min, self.info.max + 1, shape, generator=self._torch)
        return drawn.to(self.dtype)

    def size(self, most: int) -> int:
        """A random size from 1 to `most`."""
        return int(self._numbers.integers(1, most + 1))

    @property
    def is_short(self) -> bool:
        """True for 16-bit values: their zero point is 0."""
        return self.dtype == torch.int16

    def point(self) -> int:
        """A random zero point."""
        if self.is_short:
            return 0
        return int(self._numbers.integers(self.info.min, self.info.max + 1))

    def scale(self, scale: float) -> list[Any]:
        """A requantization with a scale near `scale`, to the whole range."""
        to = requantization(np.array([scale * self._numbers.uniform(0.3, 3)]), self.rounding)
        assert to is not None
        shifts = None if to.shifts is None else torch.from_numpy(to.shifts)
        return [torch.from_numpy(to.multipliers), shifts, self.rounding, *self.range()]

    def range(self) -> list[int]:
        """A zero point, and the limits of the range."""
        return [self.point(), self.info.min, self.info.max]


def added(draw: Draw) -> Arguments:
    shape = draw.size(5), draw.size(40)
    a, b = draw.tensor(*shape), draw.tensor(shape[0] if draw.size(2) == 1 else 1, shape[1])
    how = [1_034_567_890, -787_654_321, 1 << 30, 31] if draw.is_short else [1_034_567, -787_654, 1 << 19, 20]
    return "quantized_add", [a, b, *how, *draw.range()]


def multiplied(draw: Draw) -> Arguments:
    shape = draw.size(5), draw.size(40)
    a, b = draw.tensor(*shape), draw.tensor(shape[0], shape[1] if draw.size(2) == 1 else 1)
    return "quantized_mul", [a, draw.point(), b, draw.point(), *draw.scale(2e-5 if draw.is_short else 0.006)]


def matrices(draw: Draw) -> Arguments:
    depth = draw.size(40)
    a, b = draw.tensor(2, draw.size(6), depth), draw.tensor(2, depth, draw.size(40))
    return "quantized_matmul", [
        a,
        draw.point(),
        b,
        draw.point(),
        *draw.scale((3e-5 if draw.is_short else 0.01) / depth**0.5),
    ]


def softmax(draw: Draw) -> Arguments:
    to = requantization(np.array([32767.0 if draw.is_short else 256.0]))
    assert to is not None and to.shifts is not None
    table = torch.from_numpy(
        exponentials(1e-4 * draw.size(5), "int16") if draw.is_short else exponentials(0.02 * draw.size(5))
    )
    scale = int(to.multipliers[0]), int(to.shifts[0])
    return "quantized_softmax", [draw.tensor(3, draw.size(60)), -1, table, *scale, *draw.range()]


def normalized(draw: Draw) -> Arguments:
    size = draw.size(60)
    numbers = fixed_point(np.linspace(-40, 50, size), np.linspace(-30, 20, size))
    assert numbers is not None
    weight, bias = (torch.from_numpy(each) for each in numbers[:2])
    return "quantized_layer_norm", [draw.tensor(3, size), weight, bias, 5, 2, *numbers[2:], *draw.range()]


def pooled(draw: Draw) -> Arguments:
    x = draw.tensor(2, draw.size(12), draw.size(9) + 1, draw.size(9) + 1)
    size = [draw.size(4), draw.size(4)]
    return "quantized_adaptive_avg_pool2d", [x, draw.point(), size, *draw.scale(1.0)]


def curved(draw: Draw) -> Arguments:
    table = torch.randint(-(1 << 30), 1 << 30, (1 << draw.size(7), 4), generator=draw._torch).to(torch.int32)
    return "quantized_curve", [draw.tensor(3, draw.size(60)), table, *draw.range()[1:], draw.dtype]


def divided(draw: Draw) -> Arguments:
    shape = draw.size(5), draw.size(40)
    a, b = draw.tensor(*shape), draw.tensor(shape[0], shape[1] if draw.size(2) == 1 else 1)
    to = requantization(np.array([draw.size(60) * 0.7]))
    assert to is not None and to.shifts is not None
    scale = int(to.multipliers[0]), int(to.shifts[0])
    return "quantized_div", [a, draw.point(), b, draw.point(), *scale, *draw.range()]


def grouped_norm(draw: Draw) -> Arguments:
    numbers = fixed_point(np.linspace(-40, 50, 12), np.linspace(-30, 20, 12))
    assert numbers is not None
    weight, bias = (torch.from_numpy(each) for each in numbers[:2])
    x = draw.tensor(2, 12, draw.size(5), draw.size(5))
    return "quantized_group_norm", [x, weight, bias, 3, 5, 2, *numbers[2:], *draw.range()]


def rooted(draw: Draw) -> Arguments:
    size = draw.size(60)
    numbers = fixed_point(np.linspace(-40, 50, size), np.zeros(size))
    assert numbers is not None
    weight = torch.from_numpy(numbers[0])
    return "quantized_rms_norm", [draw.tensor(3, size), draw.point(), weight, 5, 2, numbers[2], *draw.range()]


def looked_up(draw: Draw) -> Arguments:
    return "quantized_lookup", [draw.tensor(3, draw.size(60)), draw.tensor(256)]


def averaged(draw: Draw) -> Arguments:
    x = draw.tensor(2, draw.size(12), draw.size(9), draw.size(9))
    return "quantized_mean", [x, draw.point(), [2, 3], True, *draw.scale(1.0)]


def pooled_windows(draw: Draw) -> Arguments:
    x = draw.tensor(2, draw.size(12), draw.size(9) + 2, draw.size(9) + 2)
    where = [[3, 2], [2, 1], [1, 1], draw.size(2) == 1, draw.size(2) == 1, None]
    return "quantized_avg_pool2d", [x, draw.point(), *where, *draw.scale(1.0)]


def pooled_volumes(draw: Draw) -> Arguments:
    x = draw.tensor(1, draw.size(4), draw.size(3) + 2, draw.size(3) + 2, draw.size(3) + 2)
    where = [[3, 2, 1], [2, 1, 1], [1, 1, 0], draw.size(2) == 1, draw.size(2) == 1, None]
    return "quantized_avg_pool3d", [x, draw.point(), *where, *draw.scale(1.0)]


def interpolated(draw: Draw) -> Arguments:
    sizes = draw.size(6), draw.size(6)
    positions = [torch.from_numpy(images.positions(size, draw.size(9), False, None)) for size in sizes]
    x = draw.tensor(1, draw.size(7), *sizes)
    return "quantized_interpolate2d", [x, draw.point(), *positions, *draw.scale(2.0**-22)]


def dynamic(draw: Draw) -> Arguments:
    """Float operands whose sums of products are integers: the same bits on every target."""
    depth, features = draw.size(40), draw.size(20)
    x = draw.tensor(draw.size(4), depth).to(torch.float32) * 0.037
    weight = draw.tensor(features, depth).to(torch.int16).clamp(-127, 127).to(torch.int8)
    scales, bias = torch.linspace(0.01, 0.3, features), torch.linspace(-3, 4, features)
    mapping = ("asymmetric", "symmetric", "nearer_end")[draw.size(3) - 1]
    low = -127 if mapping == "symmetric" else -128
    return "dynamic_linear", [x, weight, scales, bias, draw.size(2) == 1, mapping, low, 127, 1e-7]


def weighted(draw: Draw) -> Arguments:
    depth, features = draw.size(40), draw.size(20)
    x = draw.tensor(draw.size(4), depth).to(torch.float32) * 0.037
    weight = draw.tensor(features, depth).to(torch.int16).clamp(-127, 127).to(torch.int8)
    scales, bias = torch.linspace(0.01, 0.3, features), torch.linspace(-3, 4, features)
    return "weight_only_linear", [x, weight, scales, bias]


def recurrent(draw: Draw, kind: str) -> Arguments:
    most = (5, 40)[draw.size(2) - 1]
    sizes = draw.size(5), draw.size(2), draw.size(most), draw.size(most)
    reverse = draw.size(2) == 1
    return f"quantized_{kind}", recurrent_samples.arguments(kind, sizes, draw.size(99), reverse=reverse)


FUNCTIONS: tuple[Callable[[Draw], Arguments], ...] = (
    added,
    averaged,
    divided,
    dynamic,
    grouped_norm,
    interpolated,
    looked_up,
    matrices,
    multiplied,
    normalized,
    pooled,
    pooled_volumes,
    pooled_windows,
    rooted,
    softmax,
    weighted,
)
OF_16_BITS = (added, averaged, multiplied, matrices, softmax, pooled, pooled_volumes, pooled_windows, curved)
OF_INT8 = (partial(recurrent, kind="lstm"), partial(recurrent, kind="gru"))
OF_FLOATS = "rushlight::weight_only_linear.out"
"""The operator's sums are float32, whose last bits depend on the processor."""


def _drawn() -> Iterator[RecordedCall]:
    kinds = [
        *itertools.product((torch.int8, torch.uint8), ROUNDINGS, FUNCTIONS),
        *itertools.product((torch.int16,), ROUNDINGS, OF_16_BITS),
        *itertools.product((torch.int8,), ROUNDINGS, OF_INT8),
    ]
    for seed, (dtype, rounding, draw) in enumerate(itertools.chain.from_iterable([kinds] * 3)):
        base, arguments = draw(Draw(seed, dtype, rounding))
        name = f"rushlight::{base}.out"
        schema, function = torch._C.parse_schema(OPERATORS[name].schema.text), integers.overload(f"::{base}")
        made = function(*arguments)
        expected = [made] if isinstance(made, torch.Tensor) else list(made)
        outs = [torch.full_like(each, 113) for each in expected]
        given: dict[str, Any] = dict(zip((a.name for a in schema.arguments), arguments, strict=False))
        yield RecordedCall(name, schema, function, given, [*arguments, *outs], outs, expected)


def _of_floats() -> Iterator[RecordedCall]:
    """Conversions between float32 and int8 as in PyTorch: tensors with equal dim orders, and with different
    ones."""
    library = torch.ops.quantized_decomposed
    generator = torch.Generator().manual_seed(7)
    for seed, order in itertools.product(range(4), ([0, 1, 2, 3], [0, 2, 3, 1])):
        x = torch.randn(2, 3, 5, 1 + 9 * seed, generator=generator) * 10.0 ** (2 * seed - 2)
        x.view(-1)[:4] = torch.tensor([1e38, -1e38, 0.05, 1e-40])
        scale, point = 0.1 * 4.0**-seed, 20 * seed - 30
        numbers = scale, point, -100, 120, torch.int8
        q = library.quantize_per_tensor(x, *numbers)
        for base, tensor, expected, rest in (
            ("quantize_per_tensor", x, q, ()),
            ("dequantize_per_tensor", q, library.dequantize_per_tensor(q, *numbers), (None,)),
        ):
            name = f"quantized_decomposed::{base}.out"
            schema = torch._C.parse_schema(OPERATORS[name].schema.text)
            arguments = [tensor, *numbers, *rest]
            given: dict[str, Any] = dict(zip((a.name for a in schema.arguments), arguments, strict=False))
            out = with_dim_order(torch.full_like(expected, 113), order)
            function = getattr(library, base).default
            yield RecordedCall(name, schema, function, given, [*arguments, out], [out], [expected])


def _agree(call: RecordedCall, outs: Sequence[torch.Tensor]) -> bool:
    """True if results match the definition: bit for bit, except for float sums."""
    if call.row == OF_FLOATS:
        return torch.allclose(outs[0], call.expected[0], rtol=1e-5, atol=1e-4)
    return all(map(torch.equal, outs, call.expected))


def test_every_operator_on_integers_is_drawn_with_all_roundings() -> None:
    known = {name for name in OPERATORS if name.startswith("rushlight::quantized_")}
    known |= {"rushlight::dynamic_linear.out", OF_FLOATS}
    drawn = list(_drawn())
    assert {call.row for call in drawn} | {CONVOLUTION, LINEAR} == known
    for name in {call.row for call in drawn}:
        words = {call.given["rounding"] for call in drawn if call.row == name and "rounding" in call.given}
        takes = any(argument.name == "rounding" for argument in OPERATORS[name].schema.arguments)
        assert words == (set(ROUNDINGS) if takes else set())


@pytest.fixture(scope="module")
def every() -> list[RecordedCall]:
    """The calls that the targets compute."""
    return [*_drawn(), *_of_floats()]


def test_a_target_has_the_bytes_of_the_definition(
    target: targets.Target, every: list[RecordedCall], tmp_path: Path
) -> None:
    need(target.name)
    calls = every
    if target.name == "microbit":  # the smallest of each, as the board has little memory
        ordered = sorted(calls, key=lambda call: sum(tensor.nbytes for tensor in call.tensors))
        smallest: dict[str, RecordedCall] = {}
        for call in ordered:
            smallest.setdefault(call.row, call)
        calls = list(smallest.values())
    # Every fourth of the calls in order of size: the parts take about the same memory.
    parts = 4 if target.name == "microbit" else 1
    results: dict[int, Sequence[torch.Tensor]] = {}
    for part in range(parts):
        chosen = range(part, len(calls), parts)
        folder = tmp_path / str(part)
        folder.mkdir()
        found = computed([calls[i] for i in chosen], target.name, folder)
        results.update(zip(chosen, found, strict=True))
    wrong = [str(call) for i, call in enumerate(calls) if not _agree(call, results[i])]
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong[:20])
