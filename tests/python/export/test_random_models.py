# SPDX-License-Identifier: BSD-3-Clause
"""Random models: views, results over inputs, buffers and inputs that change, branches; run twice and compared
with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from support.lowered import check

_SIZE = 4

# Each takes tensors of [4, 4] and gives one.
_STEPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b * 0.5,
    "mul": lambda a, b: a * b.tanh(),
    "relu": lambda a, b: a.relu(),
    "mm": lambda a, b: (a @ b) * 0.25,
    "view": lambda a, b: a.reshape(2, 8).view(_SIZE, _SIZE),
    "rows": lambda a, b: torch.cat([a[2:4], b[0:2]]),
    "row": lambda a, b: a[1].expand(_SIZE, _SIZE) + b,
    "t": lambda a, b: a.t(),
    "split": lambda a, b: torch.stack([part.sum(0) for part in a.split(1)]) + b.split(2)[1].sum(),
    "where": lambda a, b: torch.where(a > b, a, b),
    "column": lambda a, b: a[:, 1:3].repeat(1, 2),
    "cond": lambda a, b: torch.cond(a.sum() > b.sum(), lambda a, b: a + 1, lambda a, b: a * b.cos(), (a, b)),
    "cond_of_input": lambda a, b: torch.cond(a.sum() > 0, lambda a: a.clone(), lambda a: a - 2, (a,)),
    "broadcast": lambda a, b: a.sum(0, keepdim=True) + b,
    "clone": lambda a, b: a.clone(),
}
_CHANGES = ("state", "other", "input")


class Random(torch.nn.Module):
    """Runs `steps` of (name, first, second), indices into what there is so far; and changes state."""

    def __init__(self, steps: list[tuple[str, int, int]], returned: list[int]) -> None:
        super().__init__()
        self.steps, self.returned = steps, returned
        self.register_buffer("state", torch.full((_SIZE, _SIZE), 0.5))
        self.register_buffer("other", torch.eye(_SIZE))
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, _SIZE * _SIZE).view(_SIZE, _SIZE))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        pool = [x, y, self.weight, self.state, self.other]
        for name, first, second in self.steps:
            a, b = pool[first % len(pool)], pool[second % len(pool)]
            if name == "state":
                self.state.copy_(a)
            elif name == "other":
                self.other.add_(a * 0.5)
            elif name == "input":
                y.mul_(0.5).add_(a)
            elif name == "swap":
                old = self.state.clone()
                self.state.copy_(self.other)
                self.other.copy_(old)
            else:
                pool.append(_STEPS[name](a, b))
        return [pool[index % len(pool)].clone() for index in self.returned]


_indices = st.integers(0, 30)
_steps = st.lists(
    st.tuples(st.sampled_from([*_STEPS, *_CHANGES, "swap"]), _indices, _indices), min_size=3, max_size=12
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=_steps,
    returned=st.lists(_indices, min_size=1, max_size=4),
    planned=st.booleans(),
    seed=st.integers(0, 9),
)
def test_a_random_model_gives_what_pytorch_gives(
    steps: list[Any], returned: list[int], planned: bool, seed: int
) -> None:
    note(f"{steps} {returned}")
    torch.manual_seed(seed)
    calls = [tuple(torch.randn(_SIZE, _SIZE) for _ in range(2)) for _ in range(2)]
    check(Random(steps, returned), *calls, plan_inputs=planned, plan_outputs=planned)


@pytest.mark.parametrize("planned", [True, False])
def test_outputs_that_are_inputs_state_and_each_other(planned: bool) -> None:
    class Same(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("state", torch.ones(3))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            y = x * 2
            self.state.add_(1)
            return x, y, y, self.state, y.view(3, 1), self.state.view(1, 3)

    check(Same(), (torch.randn(3),), (torch.randn(3),), plan_inputs=planned, plan_outputs=planned)
