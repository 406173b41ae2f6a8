# SPDX-License-Identifier: BSD-3-Clause
"""Calls that do not depend on each other execute at once, with the numbers that they have in order."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.trace.profile import profile, read_events

pytestmark = pytest.mark.heavy

EXECUTIONS = 16  # enough to time lanes and the program's order, and for the faster one


class Towers(nn.Module):
    """Two branches of three layers, and their sum."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = (
            nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64))
            for _ in range(2)
        )

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.left(x) + self.right(y)


class Branches(nn.Module):
    """Convolutions of one picture, side by side, twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.ModuleList(nn.Conv2d(8, 16, size, padding=size // 2) for size in (3, 1, 3))
        self.second = nn.ModuleList(nn.Conv2d(48, 16, size, padding=size // 2) for size in (3, 1, 3))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([torch.relu(layer(x)) for layer in self.first], 1)
        return torch.cat([torch.relu(layer(x)) for layer in self.second], 1)


class Noise(nn.Module):
    """Two random tensors in branches, whose numbers depend on the order of the calls."""

    def forward(self, x: Tensor) -> Tensor:
        left, right = torch.rand_like(x), torch.rand_like(x)
        return torch.cat([torch.tanh(left) * x, torch.sin(right) + x])


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[np.ndarray], np.ndarray]:
    """A program, its inputs and PyTorch's output."""
    torch.manual_seed(0)
    module, args = Towers().eval(), (torch.randn(1, 256), torch.randn(1, 256))
    path = tmp_path_factory.mktemp("lanes") / "towers.pte"
    rushlight.export(module, args).save(path)
    return path, [each.numpy() for each in args], module(*args).detach().numpy()


def test_branches_execute_at_once_with_the_same_bits(
    towers: tuple[Path, list[np.ndarray], np.ndarray],
) -> None:
    path, inputs, expected = towers
    in_order = rushlight.load(path, threads=2, lanes=1).method("forward")
    method = rushlight.load(path, threads=2).method("forward")
    assert in_order.lanes()["windows"] == 0
    planned = method.lanes()
    assert planned["lanes"] == 2 and planned["windows"] == 1 and planned["open"] == 1
    assert planned["planned_bytes"] >= planned["program_bytes"] // 2
    (reference,) = in_order.execute(inputs)
    np.testing.assert_allclose(reference, expected, atol=1e-5)
    for _ in range(EXECUTIONS):
        np.testing.assert_array_equal(method.execute(inputs)[0], reference)
    assert method.lanes()["open"] == 0


def test_a_program_from_elsewhere_gives_the_same_bits(tmp_path: Path) -> None:
    """Convolutions of several threads, in lanes that have one thread each and in windows on all."""
    torch.manual_seed(0)
    module, x = Branches().eval(), torch.randn(1, 8, 12, 12)
    path = tmp_path / "branches.pte"
    rushlight.export(module, (x,)).save(path)
    methods = [
        rushlight.load(path, threads=threads, lanes=lanes).method("forward")
        for threads, lanes in ((1, None), (2, None), (4, 2), (4, None))
    ]
    (reference,) = methods[0].execute([x.numpy()])
    np.testing.assert_allclose(reference, module(x).detach().numpy(), atol=1e-5)
    for method in methods[1:]:
        assert method.lanes()["windows"] > 0
        for _ in range(EXECUTIONS):
            np.testing.assert_array_equal(method.execute([x.numpy()])[0], reference)


def test_directions_of_a_recurrent_layer_execute_at_once(tmp_path: Path) -> None:
    """The layer reads a view of the input, which gets its memory while the method executes."""
    torch.manual_seed(0)
    module, path = nn.LSTM(32, 64, batch_first=True, bidirectional=True).eval(), tmp_path / "lstm.pte"
    rushlight.export(module, (torch.randn(1, 20, 32),)).save(path)
    in_order = rushlight.load(path, threads=2, lanes=1).method("forward")
    method = rushlight.load(path, threads=2).method("forward")
    assert method.lanes()["windows"] == 1
    for seed in range(EXECUTIONS):
        x = torch.randn(1, 20, 32, generator=torch.Generator().manual_seed(seed))
        results, expected = method.execute([x.numpy()]), module(x)
        np.testing.assert_allclose(results[0], expected[0].detach().numpy(), atol=1e-5)
        for new, usual in zip(results, in_order.execute([x.numpy()]), strict=True):
            np.testing.assert_array_equal(new, usual)


def test_random_numbers_keep_their_order(tmp_path: Path) -> None:
    path, x = tmp_path / "noise.pte", np.ones((1, 4096), np.float32)
    rushlight.export(Noise(), (torch.from_numpy(x),)).save(path)
    results = []
    for lanes in (1, None):
        method = rushlight.load(path, threads=2, lanes=lanes).method("forward")
        rushlight.runtime.set_seed(7)
        results.append([method.execute([x])[0] for _ in range(EXECUTIONS)])
    for usual, new in zip(*results, strict=True):
        np.testing.assert_array_equal(usual, new)


def test_measured_times_replace_estimates(
    towers: tuple[Path, list[np.ndarray], np.ndarray], tmp_path: Path
) -> None:
    path, inputs, expected = towers
    traced = rushlight.load(path, threads=1, enable_etdump=True)
    for _ in range(3):
        traced.run("forward", inputs)
    traced.write_etdump_result_to_file(tmp_path / "trace.etdp")
    seconds = profile(read_events(tmp_path / "trace.etdp")).call_seconds()
    assert len(seconds) >= 6 and 0 < sum(seconds) < 1
    by_profile = rushlight.load(path, threads=2, call_seconds={"forward": seconds}).method("forward")
    assert by_profile.lanes()["windows"] <= 1
    np.testing.assert_allclose(by_profile.execute(inputs)[0], expected, atol=1e-5)
    # Calls that take nothing are not worth a window.
    nothing = {"forward": [1e-9] * len(seconds)}
    assert rushlight.load(path, threads=2, call_seconds=nothing).method("forward").lanes()["windows"] == 0


def test_threads_that_share_a_pool_keep_their_numbers(
    towers: tuple[Path, list[np.ndarray], np.ndarray],
) -> None:
    path, inputs, _ = towers
    shared = rushlight.load(path, threads=2)
    (reference,) = shared.load_method("forward").execute(inputs)
    wrong: list[int] = []

    def work(index: int) -> None:
        program = shared if index % 2 else rushlight.load(path, threads=2)
        method = program.load_method("forward")
        wrong.extend(index for _ in range(200) if not np.array_equal(method.execute(inputs)[0], reference))

    workers = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_no_lanes_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="lanes: expected at least 1, got 0"):
        rushlight.load(b"", lanes=0)
