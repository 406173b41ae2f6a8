# SPDX-License-Identifier: BSD-3-Clause
"""State that a program keeps between calls, writes and shares."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402

from support.export.exported import check_export, run_ours  # noqa: E402

X = torch.randn(2, 3)
CALLS: list[Any] = [(torch.randn(2, 3),) for _ in range(3)]


class Counter(nn.Module):
    """Counts its calls from a start, and remembers the last input."""

    def __init__(self, start: float = 5.0) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor(start))
        self.register_buffer("last", torch.full((2, 3), 0.5))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = self.last * 1
        self.count += 1
        self.last.copy_(x)
        return before + self.count, self.count.clone()


def test_buffers_start_where_the_module_left_them_and_keep_what_is_written() -> None:
    check_export(Counter(), (X,), more=CALLS)


def test_each_loaded_method_starts_anew() -> None:
    checked = check_export(Counter(), (X,))
    first = run_ours(checked.exported.buffer, [[X], [X]])
    second = run_ours(checked.exported.buffer, [[X], [X]])
    assert [float(call[1]) for call in first] == [6.0, 7.0] == [float(call[1]) for call in second]


def test_a_changed_buffer_is_an_output() -> None:
    class Returned(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(2, 3))

        def forward(self, x: Tensor) -> Tensor:
            self.total.add_(x)
            return self.total

    check_export(Returned(), (X,), more=CALLS)


def test_a_buffer_is_read_before_and_after_it_is_written() -> None:
    class Swapped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("a", torch.ones(3))
            self.register_buffer("b", torch.zeros(3))

        def forward(self, x: Tensor) -> Tensor:
            a = self.a.clone()
            self.a.copy_(self.b + x)
            self.b.copy_(a)
            return self.a - self.b

    check_export(Swapped(), (torch.randn(3),), more=[(torch.randn(3),) for _ in range(3)])


def test_a_part_of_a_buffer_is_written() -> None:
    class Ring(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("ring", torch.zeros(4, 3))

        def forward(self, x: Tensor, at: Tensor) -> Tensor:
            self.ring.index_copy_(0, at, x)
            self.ring[0].mul_(2)
            return self.ring.sum(0)

    calls = [(torch.randn(1, 3), torch.tensor([n])) for n in (2, 0, 3, 0)]
    check_export(Ring(), calls[0], more=calls[1:])


def test_a_buffer_that_is_not_saved_has_a_state_too() -> None:
    class Temporary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.tensor([3]), persistent=False)

        def forward(self, x: Tensor) -> Tensor:
            self.seen += 1
            return x * self.seen

    check_export(Temporary(), (X,), more=CALLS)


def test_a_buffer_may_have_the_name_of_an_input() -> None:
    class Same(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("x", torch.zeros(2, 3))
            self.register_buffer("b_x", torch.ones(2, 3))

        def forward(self, x: Tensor) -> Tensor:
            self.x += x
            return self.x + self.b_x

    check_export(Same(), (X,), more=CALLS)


def test_what_is_written_to_an_input_is_not_seen_by_who_reads_it_before() -> None:
    class Written(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            before = x * 2
            x.add_(1)
            return before + x

    check_export(Written(), (X,), more=CALLS)


def test_tied_weights_are_stored_once() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(64, 32)
            self.out = nn.Linear(32, 64, bias=False)
            self.out.weight = self.words.weight

        def forward(self, tokens: Tensor) -> Tensor:
            return self.out(self.words(tokens))

    checked = check_export(Tied(), (torch.tensor([[1, 5, 63]]),))
    assert checked.exported.report.constant_bytes < 1.5 * 64 * 32 * 4


def test_equal_constants_are_stored_once() -> None:
    class Equal(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(torch.ones(256))
            self.second = nn.Parameter(torch.ones(256))

        def forward(self, x: Tensor) -> Tensor:
            return (x * self.first + x.sin()) * self.second

    checked = check_export(Equal(), (torch.randn(256),))
    assert checked.exported.report.constant_bytes < 1.5 * 256 * 4


def test_the_model_is_left_as_it_was() -> None:
    model = Counter()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    from support.export.exported import export_quietly

    export_quietly(model, (X,), {})
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
