# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch

from rushlight.export.order.orders import (
    channels_last,
    is_channels_last,
    is_either,
    order_of_format,
    order_of_strides,
    row_major,
)

LAST = (0, 2, 3, 1)


@pytest.mark.parametrize(
    ("sizes", "memory_format", "order"),
    [
        ((2, 3, 4, 5), torch.contiguous_format, (0, 1, 2, 3)),
        ((2, 3, 4, 5), torch.channels_last, LAST),
        ((1, 3, 4, 5), torch.channels_last, LAST),
        ((2, 3, 4, 1), torch.channels_last, LAST),
        ((2, 1, 4, 5), torch.channels_last, (0, 1, 2, 3)),
        ((2, 3, 1, 1), torch.channels_last, (0, 1, 2, 3)),
        ((2, 3, 4, 5, 6), torch.channels_last_3d, (0, 2, 3, 4, 1)),
        ((2, 3, 4), torch.contiguous_format, (0, 1, 2)),
        ((), torch.contiguous_format, ()),
    ],
)
def test_strides_tell_the_order(
    sizes: tuple[int, ...], memory_format: object, order: tuple[int, ...]
) -> None:
    assert order_of_strides(torch.empty(sizes).contiguous(memory_format=memory_format)) == order


def test_other_strides_count_as_row_major() -> None:
    assert order_of_strides(torch.empty(3, 4).t()) == (0, 1)
    assert order_of_strides(torch.empty(2, 3, 4, 5).permute(3, 2, 1, 0)) == (0, 1, 2, 3)


def test_formats_are_orders_of_a_rank() -> None:
    assert order_of_format(torch.channels_last, 4) == LAST
    assert order_of_format(torch.contiguous_format, 3) == (0, 1, 2)
    assert order_of_format(torch.preserve_format, 4) is None
    assert order_of_format(None, 4) is None


def test_ranks_without_channels_have_one_order() -> None:
    assert channels_last(3) == row_major(3)
    assert not is_channels_last(channels_last(3)) and is_channels_last(channels_last(5))


@pytest.mark.parametrize(
    ("sizes", "either"), [((2, 1, 4, 4), True), ((2, 3, 1, 1), True), ((1, 3, 4, 4), False)]
)
def test_one_channel_or_one_pixel_lies_the_same_in_both(sizes: tuple[int, ...], either: bool) -> None:
    assert is_either(torch.empty(sizes)) is either
