# SPDX-License-Identifier: BSD-3-Clause
"""Shapes that are known only when the program runs."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402
from torch.export import Dim  # noqa: E402

from rushlight.errors import RushlightError  # noqa: E402
from rushlight.program.model import Dynamism, TensorInfo  # noqa: E402
from support.export.exported import check_export, run_ours  # noqa: E402


class Calls(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def rows(*counts: int) -> list[tuple[Tensor]]:
    """Inputs with these numbers of rows of four elements."""
    return [(torch.randn(count, 4),) for count in counts]


BATCH = Dim("batch", min=1, max=16)
[FIRST] = rows(5)


_OF_ROWS = {
    "arithmetic": lambda x: x * 2 + 1,
    "softmax": lambda x: torch.nn.functional.softmax(x, 0),
    "mean": lambda x: x.sum(0) / x.shape[0],
    "flattened": lambda x: x.reshape(-1),
    "transposed": lambda x: x.reshape(x.shape[0], 2, 2).transpose(0, 1),
    "concatenated": lambda x: torch.cat([x, x, torch.zeros(3, 4)]),
    "repeated": lambda x: x.repeat(2, 1),
    "sliced": lambda x: x[1:] if x.shape[1] == 5 else x[:-1],
    "counted": lambda x: torch.arange(x.shape[0]) * 2,
    "times itself": lambda x: x @ x.t(),
    "expanded": lambda x: x.expand(3, -1, -1),
    "padded": lambda x: torch.nn.functional.pad(x, (0, 0, 1, 2)),
    "size returned": lambda x: (x, x.shape[0] * 3 + 1),
    "reversed": lambda x: x[torch.arange(x.shape[0]).flip(0)],
}


@pytest.mark.parametrize("function", _OF_ROWS.values(), ids=list(_OF_ROWS))
def test_a_bounded_dimension_may_be_anything_up_to_its_bound(function: Any) -> None:
    shapes = (({0: Dim("batch", min=3, max=16)},),)
    check_export(Calls(function), FIRST, dynamic_shapes=shapes, more=rows(3, 16))


@pytest.mark.parametrize("groups", [1, 16])
def test_convolutions_take_narrow_images_of_any_height(groups: int) -> None:
    """Weights are packed once, for the highest."""
    last = torch.channels_last
    channels = 2 if groups == 1 else 16
    model = nn.Conv2d(channels, 16, (5, 3), padding=(2, 1), groups=groups).to(memory_format=last).eval()
    height = Dim("height", min=2, max=60)
    inputs = [(torch.randn(1, channels, n, 5).to(memory_format=last),) for n in (30, 2, 4, 60)]
    check_export(model, inputs[0], dynamic_shapes=({2: height},), more=inputs[1:])


def test_linear_and_attention_take_sequences_of_any_length() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    length = Dim("length", min=2, max=12)
    inputs = [(torch.randn(1, n, 8),) for n in (5, 2, 12)]
    check_export(model, inputs[0], dynamic_shapes=({1: length},), more=inputs[1:])


def test_convolutions_take_images_of_any_size() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1)).eval()
    sizes = [(9, 12), (6, 6), (16, 15)]
    inputs = [(torch.randn(1, 3, *size),) for size in sizes]
    shapes = ({2: Dim("height", min=4, max=16), 3: Dim("width", min=4, max=16)},)
    check_export(model, inputs[0], dynamic_shapes=shapes, more=inputs[1:])


def test_two_inputs_may_share_a_dimension() -> None:
    shapes = (({0: BATCH}, {0: BATCH}),)
    calls = [(torch.randn(n, 4), torch.randn(n, 3)) for n in (5, 1, 16)]
    check_export(Calls(lambda x, y: torch.cat([x, y], 1)), calls[0], dynamic_shapes=shapes, more=calls[1:])


def test_a_dimension_may_follow_from_another() -> None:
    shapes = (({0: BATCH}, {0: 2 * BATCH}),)
    calls = [(torch.randn(n, 4), torch.randn(2 * n, 4)) for n in (5, 2, 16)]
    check_export(Calls(lambda x, y: torch.cat([x, x]) + y), calls[0], dynamic_shapes=shapes, more=calls[1:])


def test_automatic_dimensions_have_bounds_too() -> None:
    shapes = (({0: Dim.AUTO(min=2, max=9)},),)
    check_export(Calls(lambda x: x.relu()), FIRST, dynamic_shapes=shapes, more=rows(2, 9))


def test_the_program_says_the_bound() -> None:
    checked = check_export(Calls(lambda x: x + 1), FIRST, dynamic_shapes=(({0: BATCH},),))
    method = checked.model.method("forward")
    info = method.values[method.inputs[0]].data
    assert isinstance(info, TensorInfo)
    assert (info.sizes, info.dynamism) == ((16, 4), Dynamism.BOUNDED)


def test_beyond_the_bound_is_refused() -> None:
    checked = check_export(Calls(lambda x: x + 1), FIRST, dynamic_shapes=(({0: BATCH},),))
    with pytest.raises(RushlightError, match="17"):
        run_ours(checked.exported.buffer, rows(17))


def test_a_dimension_without_a_bound_is_refused_at_export() -> None:
    with pytest.raises(RushlightError, match=r"(?i)bound|max"):
        check_export(Calls(lambda x: x + 1), FIRST, dynamic_shapes=(({0: Dim("endless", min=1)},),))


class Chosen(nn.Module):
    """As many rows as an input says."""

    def forward(self, x: Tensor, count: Tensor) -> Tensor:
        number = count.item()
        torch._check(number >= 1)
        torch._check(number <= 8)
        return x.narrow(0, 0, number) * 2


def test_a_size_may_be_read_from_a_tensor() -> None:
    calls = [(torch.randn(8, 4), torch.tensor(n)) for n in (3, 1, 8)]
    check_export(Chosen(), calls[0], more=calls[1:])


class Made(nn.Module):
    """A tensor of a size that an input says."""

    def forward(self, count: Tensor) -> Tensor:
        number = count.item()
        torch._check_is_size(number)
        torch._check(number <= 10)
        return torch.ones(number, 2) * number


def test_a_tensor_may_be_made_of_a_size_read_from_one() -> None:
    check_export(Made(), (torch.tensor(4),), more=[(torch.tensor(10),), (torch.tensor(1),)])


def test_the_number_of_found_elements_is_bounded_by_all() -> None:
    calls = [(torch.tensor(values),) for values in ([1.0, 0, 2, 0, 3], [0.0, 0, 0, 0, 5], [1.0, 1, 1, 1, 1])]
    check_export(Calls(lambda x: x.nonzero()), calls[0], more=calls[1:])


def test_masked_elements_are_selected() -> None:
    calls = [(torch.randn(6), torch.tensor(m)) for m in ([True, False] * 3, [False] * 5 + [True])]
    check_export(Calls(lambda x, m: x.masked_select(m) + 1), calls[0], more=calls[1:])


class Numbers(nn.Module):
    """Arithmetic on numbers that are read from tensors."""

    def forward(self, x: Tensor, n: Tensor) -> tuple[Any, ...]:
        number = n.item()
        return x * number + number // 2, number * 3 - 1


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32], ids=str)
def test_numbers_of_tensors_are_computed_with(dtype: torch.dtype) -> None:
    calls = [(torch.randn(3), torch.tensor(n, dtype=dtype)) for n in (5, -4, 0)]
    check_export(Numbers(), calls[0], more=calls[1:])
