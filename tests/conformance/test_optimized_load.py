# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the official exporter are rewritten when they are loaded, and give PyTorch's results."""

from __future__ import annotations

import functools
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import rushlight
from rushlight.errors import RushlightError
from rushlight.program import read_program
from rushlight.program.model import KernelCall
from rushlight.trace.profile import read_events
from support.samples import sampled

to_edge = pytest.importorskip("executorch.exir").to_edge

pytestmark = pytest.mark.conformance

CLAMPED = "rushlight::convolution_act.clamp_out"
ACTIVATED = "rushlight::convolution_act.out"
LINEAR = "rushlight::linear_act.clamp_out"
ATTENTION = "aten::scaled_dot_product_attention.out"


def official(module: nn.Module, inputs: tuple[Any, ...], **options: Any) -> bytes:
    """The official exporter's program without a delegate."""
    with torch.no_grad():
        exported = torch.export.export(module.eval(), inputs, strict=False, **options)
        return bytes(to_edge(exported).to_executorch().buffer)


def calls_of(file: bytes) -> list[str]:
    """The operators of the calls, in order."""
    (method,) = read_program(file).plans
    return [
        method.operators[call.operator]
        for chain in method.chains
        for call in chain
        if isinstance(call, KernelCall)
    ]


def assert_close(got: Any, expected: torch.Tensor, tolerance: float = 2e-5) -> None:
    expected = expected.detach().double()
    result = torch.as_tensor(np.asarray(got).astype(np.float64))
    assert result.shape == expected.shape
    largest = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    assert torch.allclose(result, expected, rtol=tolerance, atol=tolerance * largest, equal_nan=True)


def norm(channels: int) -> nn.BatchNorm2d:
    layer = nn.BatchNorm2d(channels)
    for tensor, low in (
        (layer.weight, 0.5),
        (layer.running_var, 0.5),
        (layer.bias, -0.5),
        (layer.running_mean, -0.5),
    ):
        nn.init.uniform_(tensor, low, low + 1)
    return layer


class Residual(nn.Module):
    """A strided and a plain branch, as in ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 12, 3, 2, 1, bias=False), nn.Conv2d(12, 12, 3, 1, 1)
        self.shortcut = nn.Conv2d(8, 12, 1, 2)
        self.norms = nn.ModuleList(norm(12) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b, c = self.norms
        return torch.relu(b(self.second(functional.relu6(a(self.first(x))))) + c(self.shortcut(x)))


class Squeeze(nn.Module):
    """Squeeze and excitation with activations that the exporter decomposes, as in MobileNet V3."""

    def __init__(self) -> None:
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(10, 10, 5, padding=2, groups=10, bias=False), norm(10)
        self.down, self.up, self.last = nn.Conv2d(10, 4, 1), nn.Conv2d(4, 10, 1), nn.Conv2d(10, 7, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.hardswish(self.norm(self.depthwise(x)))
        scale = functional.hardsigmoid(self.up(functional.silu(self.down(x.mean((2, 3), keepdim=True)))))
        return functional.leaky_relu(self.last(x * scale), 0.1)


class Attention(nn.Module):
    """Attention of separate heads, which may share keys."""

    def __init__(self, heads: int, groups: int, mask: str) -> None:
        super().__init__()
        self.heads, self.groups, self.mask = heads, groups, mask
        self.query, self.out = nn.Linear(24, heads * 6), nn.Linear(heads * 6, 24)
        self.key, self.value = nn.Linear(24, groups * 6), nn.Linear(24, groups * 6, bias=False)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, length, _ = x.shape
        query, key, value = (
            layer(x).view(batch, length, heads, 6).transpose(1, 2)
            for layer, heads in ((self.query, self.heads), (self.key, self.groups), (self.value, self.groups))
        )
        mixed = functional.scaled_dot_product_attention(
            query, key, value, mask, is_causal=self.mask == "causal", enable_gqa=self.groups != self.heads
        )
        return x + self.out(mixed.transpose(1, 2).reshape(batch, length, -1))


class RmsMlp(nn.Module):
    """A gated layer behind root mean square normalization, as in Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(20) + 0.5)
        self.gate, self.up, self.down = nn.Linear(20, 36, bias=False), nn.Linear(20, 36), nn.Linear(36, 20)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Transposed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.ConvTranspose2d(6, 8, 3, 2, 1, groups=2), norm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.hardtanh(self.norm(self.layer(x)), -0.5, 0.75)


class NormalizedRows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm, self.last = nn.Linear(9, 14), nn.BatchNorm1d(14), nn.Linear(14, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.last(functional.gelu(self.norm(self.layer(x)))))


class Pooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.next = nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.Conv2d(16, 16, 3, padding=1)
        self.norm, self.head = norm(16), nn.Linear(16 * 4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(torch.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(functional.adaptive_avg_pool2d(torch.relu(self.next(x)) + x, 2).flatten(1))


class Recurrent(nn.Module):
    """A recurrent layer of which a head reads one result: all steps, the last hidden state, or all states."""

    def __init__(self, layer: nn.RNNBase, reads: str = "all") -> None:
        super().__init__()
        self.layer, self.reads = layer, reads
        self.head = nn.Linear(layer.hidden_size * (2 if layer.bidirectional and reads == "all" else 1), 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, states = self.layer(x)
        if self.reads == "all":
            return self.head(y)
        if self.reads == "last":
            hidden = states[0] if isinstance(states, tuple) else states
            return self.head(hidden[-1])
        return torch.cat([*states, y.reshape(-1, *y.shape[2:])[-1:].expand_as(states[0])], -1)


@dataclass
class Case:
    module: nn.Module
    inputs: tuple[torch.Tensor, ...]
    has: dict[str, int]  # calls after rewriting
    lacks: tuple[str, ...] = ()


def recurrent_cases() -> dict[str, Case]:
    steps = torch.randn(6, 3, 7)
    lacks = ("aten::tanh.out", "aten::sigmoid.out", "aten::cat.out", "aten::add.out", "aten::mul.out")
    lstm, gru = "rushlight::lstm.out", "rushlight::gru.out"
    return {
        "lstm": Case(Recurrent(nn.LSTM(7, 9)), (steps,), {lstm: 1}, (*lacks, "aten::slice_copy.Tensor_out")),
        "lstm of one sequence": Case(
            Recurrent(nn.LSTM(7, 9, batch_first=True)), (steps[:, :1].transpose(0, 1),), {lstm: 1}, lacks
        ),
        "lstm without biases": Case(Recurrent(nn.LSTM(7, 9, bias=False)), (steps,), {lstm: 1}, lacks),
        "lstm of layers": Case(Recurrent(nn.LSTM(7, 8, 3)), (steps,), {lstm: 3}, lacks),
        "lstm in both directions": Case(
            Recurrent(nn.LSTM(7, 9, 2, bidirectional=True)),
            (steps,),
            {lstm: 4, "aten::flip.out": 0},
            lacks[:2],
        ),
        "lstm, last state": Case(Recurrent(nn.LSTM(7, 9), "last"), (steps,), {lstm: 1}, lacks[:2]),
        "lstm, states": Case(Recurrent(nn.LSTM(7, 9), "states"), (steps,), {lstm: 1}, lacks[:2]),
        "gru": Case(Recurrent(nn.GRU(7, 9)), (steps,), {gru: 1}, (*lacks, "aten::sub.out")),
        "gru without biases": Case(Recurrent(nn.GRU(7, 9, bias=False)), (steps,), {gru: 1}, lacks),
        "gru in both directions": Case(
            Recurrent(nn.GRU(7, 9, 2, bidirectional=True), "last"), (steps,), {gru: 4}, lacks[:2]
        ),
        "gru of one sequence": Case(Recurrent(nn.GRU(7, 9), "last"), (steps[:, 0],), {gru: 1}, lacks[:2]),
        "rnn": Case(Recurrent(nn.RNN(7, 9)), (steps,), {"rushlight::rnn_tanh.out": 1}, lacks),
        "rnn, relu": Case(
            Recurrent(nn.RNN(7, 9, 2, nonlinearity="relu")), (steps,), {"rushlight::rnn_relu.out": 2}, lacks
        ),
    }


def cases() -> dict[str, Case]:
    torch.manual_seed(3)
    decomposed = ("aten::bmm.out", "aten::_softmax.out", "aten::where.self_out", "aten::permute_copy.out")
    float_mask = torch.randn(5, 5)
    rows = torch.ones(5, 5, dtype=torch.bool)
    rows[2] = False  # a query without any key
    return {
        "residual": Case(
            Residual(),
            (torch.randn(2, 8, 9, 7),),
            {CLAMPED: 2},
            ("aten::add.out", "aten::relu.out", "aten::_native_batch_norm_legit_no_training.out"),
        ),
        "squeeze": Case(
            Squeeze(),
            (torch.randn(1, 10, 6, 11),),
            {ACTIVATED: 4},
            ("aten::div.out", "aten::clamp.out", "aten::sigmoid.out"),
        ),
        "transposed": Case(Transposed(), (torch.randn(1, 6, 5, 4),), {CLAMPED: 1}, ("aten::hardtanh.out",)),
        "rows": Case(
            NormalizedRows(), (torch.randn(4, 9),), {"rushlight::linear_act.out": 2}, ("aten::addmm.out",)
        ),
        "pooled": Case(
            Pooled(),
            (torch.randn(1, 3, 33, 29),),
            {CLAMPED: 2, "rushlight::max_pool2d.out": 1},
            ("aten::relu.out", "aten::max_pool2d_with_indices.out"),
        ),
        "rms": Case(
            RmsMlp(),
            (torch.randn(1, 3, 20),),
            {"rushlight::rms_norm.out": 1, LINEAR: 1},
            ("aten::rsqrt.out", "aten::mm.out"),
        ),
        "attention": Case(
            Attention(4, 4, "none"), (torch.randn(2, 7, 24),), {ATTENTION: 1, LINEAR: 1}, decomposed
        ),
        "one query": Case(Attention(4, 4, "none"), (torch.randn(1, 1, 24),), {ATTENTION: 1}, decomposed),
        "causal": Case(
            Attention(4, 4, "causal"),
            (torch.randn(1, 6, 24),),
            {ATTENTION: 1},
            (*decomposed, "aten::arange.start_out"),
        ),
        "shared keys": Case(
            Attention(6, 2, "none"),
            (torch.randn(2, 5, 24),),
            {ATTENTION: 1},
            (*decomposed, "aten::expand_copy.out"),
        ),
        "mask": Case(
            Attention(4, 4, "given"), (torch.randn(2, 5, 24), float_mask), {ATTENTION: 1}, decomposed[:2]
        ),
        **recurrent_cases(),
        "rows without keys": Case(
            Attention(4, 4, "given"), (torch.randn(1, 5, 24), rows), {ATTENTION: 1}, decomposed[:2]
        ),
    }


CASES = cases()


@functools.cache
def file_of(name: str) -> bytes:
    """The official program of a case, which takes a second to export."""
    return official(CASES[name].module, CASES[name].inputs)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_patterns_become_single_calls(name: str, threads: int) -> None:
    case, file = CASES[name], file_of(name)
    program = rushlight.load(file, threads=threads)
    rewritten = program.rewritten()
    assert rewritten is not None
    calls = Counter(calls_of(rewritten))
    assert {each: calls[each] for each in case.has} == case.has
    assert [each for each in case.lacks if calls[each]] == []
    assert calls.total() < len(calls_of(file))
    for outputs in (program.forward(*case.inputs), program.forward(*case.inputs)):
        assert_close(outputs[0], case.module(*case.inputs))
    stated = rushlight.load(file, threads=threads, optimize=False)
    assert stated.rewritten() is None
    assert_close(stated.forward(*case.inputs)[0], case.module(*case.inputs))


OTHER_DTYPES = (torch.float64, torch.float16, torch.bfloat16)


@pytest.mark.parametrize(
    ("name", "dtype"),
    sampled(
        [
            (name, dtype)
            for name in ("residual", "transposed", "rms", "attention", "lstm", "gru")
            for dtype in OTHER_DTYPES
        ],
        2,
        name=lambda case: f"{case[0]}-{case[1]}",
    ),
)
def test_other_dtypes_are_rewritten_too(name: str, dtype: torch.dtype) -> None:
    module, inputs = cases()[name].module.to(dtype), tuple(each.to(dtype) for each in CASES[name].inputs)
    program = rushlight.load(official(module, inputs))
    assert program.rewritten() is not None
    tolerance = {torch.float64: 1e-12, torch.float16: 5e-3, torch.bfloat16: 4e-2}[dtype]
    with torch.no_grad():
        assert_close(torch.as_tensor(program.forward(*inputs)[0]).double(), module(*inputs), tolerance)


class Several(nn.Module):
    """Outputs from the middle of a pattern, and the same tensor twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Conv2d(5, 6, 3), norm(6)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self.layer(x)
        z = torch.relu(self.norm(y))
        return y, z, z.flatten(1), x, z


def test_outputs_inside_of_patterns_are_kept() -> None:
    module, x = Several().eval(), torch.randn(1, 5, 8, 6)
    program = rushlight.load(official(module, (x,)))
    for got, expected in zip(program.forward(x), module(x), strict=True):
        assert_close(got, expected)


class Unpooled(nn.Module):
    """A pool whose indices are an output, and one whose indices the model reads."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(5, 6, 3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y, indices = functional.max_pool2d(torch.relu(self.layer(x)), 2, return_indices=True)
        z, read = functional.max_pool2d(y, 2, return_indices=True)
        return z, indices, read.float() * 2


def test_indices_that_are_read_are_kept() -> None:
    module, x = Unpooled().eval(), torch.randn(1, 5, 12, 10)
    program = rushlight.load(official(module, (x,)))
    rewritten = program.rewritten()
    assert rewritten is not None
    assert calls_of(rewritten).count("aten::max_pool2d_with_indices.out") == 2
    for got, expected in zip(program.forward(x), module(x), strict=True):
        assert_close(got, expected)


def test_inputs_are_not_overwritten() -> None:
    module, x = Residual().eval(), torch.randn(1, 8, 6, 6)
    method = rushlight.load(official(module, (x,))).load_method("forward")
    given = x.clone()
    first = np.array(method.execute([given])[0])
    assert np.array_equal(method.execute([given])[0], first)
    assert torch.equal(given, x)


@pytest.mark.parametrize("shape", [(0, 5, 8, 6), (3, 5, 3, 3)])
def test_empty_and_smallest_images(shape: tuple[int, ...]) -> None:
    module, x = Several().eval(), torch.randn(shape)
    program = rushlight.load(official(module, (x,)))
    for got, expected in zip(program.forward(x), module(x), strict=True):
        assert_close(got, expected)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return torch.relu(self.layer(x)) * self.count


def test_methods_with_state_stay_as_they_are() -> None:
    module, x = Counting().eval(), torch.randn(2, 4)
    program = rushlight.load(official(module, (x,)))
    assert program.rewritten() is None
    plain = torch.relu(module.layer(x))
    assert_close(program.forward(x)[0], plain)
    assert_close(program.forward(x)[0], 2 * plain)


def test_dynamic_shapes_stay_as_they_are() -> None:
    module, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.randn(3, 4)
    rows = torch.export.Dim("rows", min=1, max=8)
    program = rushlight.load(official(module, (x,), dynamic_shapes=({0: rows},)))
    assert program.rewritten() is None
    assert_close(program.forward(x[:2])[0], module(x[:2]))


def test_events_have_the_numbers_of_the_files_instructions(tmp_path: Path) -> None:
    case, file = CASES["residual"], file_of("residual")
    program = rushlight.load(file, enable_etdump=True)
    program.forward(*case.inputs)
    program.write_etdump_result_to_file(tmp_path / "trace.etdp")
    stated = calls_of(file)
    events = [each for each in read_events(tmp_path / "trace.etdp") if each.name.startswith("native_call_")]
    assert events
    last = {stated[each.instruction] for each in events}
    assert "aten::relu.out" in last  # the fused layers compute the results of these calls
    assert any("convolution_act" in each.name for each in events)


class Unrolled(nn.Module):
    """An LSTM written step by step, with one variation."""

    def __init__(self, variation: str) -> None:
        super().__init__()
        self.variation = variation
        self.inputs, self.states, self.others = nn.Linear(5, 16), nn.Linear(4, 16), nn.Linear(4, 16)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        gates, count = self.inputs(x), x.shape[0]
        hidden, cell = torch.zeros(x.shape[1], 4), torch.ones(x.shape[1], 4)
        joined, further = [], []
        for i in range(count - (self.variation == "one step less")):
            product = self.others if self.variation == "two weights" and i == 2 else self.states
            parts = (product(hidden)[None] + gates[i : i + 1]).split(4, -1)
            into, kept, new, out = parts if self.variation != "gates in another order" else parts[::-1]
            cell = torch.sigmoid(kept) * cell + torch.sigmoid(into) * torch.tanh(new)
            shown = torch.tanh(cell)
            hidden = (torch.sigmoid(out) * shown).squeeze(0)
            joined.append(hidden[None])
            if self.variation == "a state is read" and i == 1:
                further.append(hidden * 3)
            if self.variation == "the last cell is read at once" and i == count - 1:
                further += [shown * 2, cell * 3]
        further += [cell * 2] if self.variation == "the last cell is read" else []
        joined = joined[::-1] if self.variation == "joined in another order" else joined
        return torch.cat(joined), *further


@pytest.mark.parametrize(
    ("variation", "layers"),
    [
        ("none", 1),
        ("the last cell is read", 1),
        ("the last cell is read at once", 0),
        ("a state is read", 0),
        ("one step less", 0),
        ("two weights", 0),
        ("gates in another order", 0),
        ("joined in another order", 0),
    ],
)
def test_steps_become_a_layer_only_if_they_are_one(variation: str, layers: int) -> None:
    torch.manual_seed(8)
    module, x = Unrolled(variation), torch.randn(5, 3, 5)
    file = official(module, (x,))
    program = rushlight.load(file)
    calls = Counter(calls_of(program.rewritten() or file))
    assert calls["rushlight::lstm.out"] == layers
    for got, expected in zip(program.forward(x), module(x), strict=True):
        assert_close(got, expected)


class LookedUp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.table = nn.Linear(4, 4), nn.Embedding(3, 4)

    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(x)) + self.table(index)


def test_a_failure_names_the_files_instruction() -> None:
    inputs = (torch.randn(2, 4), torch.tensor([0, 2]))
    file = official(LookedUp(), inputs)
    program = rushlight.load(file)
    assert program.rewritten() is not None
    with pytest.raises(RushlightError) as raised:
        program.forward(inputs[0], torch.tensor([0, 3]))
    assert calls_of(file)[raised.value.instruction] == "aten::embedding.out"


def test_packed_weights_are_shared_between_loads() -> None:
    case = CASES["residual"]
    program = rushlight.load(io.BytesIO(file_of("residual")).getvalue())
    first, second = program.load_method("forward"), program.load_method("forward")
    assert second.memory()["prepared"] <= first.memory()["prepared"]
    assert_close(second.execute(case.inputs)[0], case.module(*case.inputs))
