# SPDX-License-Identifier: BSD-3-Clause
"""The steps of recurrent layers (LSTM, GRU, tanh, ReLU) against torch eager."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from support.harness import (
    FLOATING,
    KernelRefused,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

Tensors = tuple[torch.Tensor, ...]
KINDS = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
"""The gates of a unit."""

of_every_kind = pytest.mark.parametrize("kind", KINDS)


def name_of(kind: str) -> str:
    return f"rushlight::{kind}.out"


def operands(kind: str, steps: int, batch: int, units: int, dtype: torch.dtype = torch.float32) -> Tensors:
    """Gates, hidden states, cells of an LSTM, weight, and the bias of a GRU."""
    gates = KINDS[kind]
    shapes: list[tuple[tuple[int, ...], float]] = [
        ((steps, batch, gates * units), 4.0),
        ((batch, units), 1.0),
    ]
    if kind == "lstm":
        shapes.append(((batch, units), 2.0))
    shapes.append(((gates * units, units), 2.0 / (1 + units) ** 0.5))
    if kind == "gru":
        shapes.append(((units,), 1.0))
    return tuple(random_tensor(s, dtype, low=-b, high=b, seed=i) for i, (s, b) in enumerate(shapes))


def expected(kind: str, tensors: Tensors) -> Tensors:
    """PyTorch's layer with the gates as its inputs: the input weight is the identity."""
    gates, hidden, *rest = (each.double() for each in tensors)
    weight = rest[1 if kind == "lstm" else 0]
    bias = kind == "gru"
    given = gates.shape[2], weight.shape[1]
    layer: torch.nn.RNNBase
    if kind in ("lstm", "gru"):
        layer = getattr(torch.nn, kind.upper())(*given, bias=bias, dtype=torch.float64)
    else:
        layer = torch.nn.RNN(*given, nonlinearity=kind[4:], bias=False, dtype=torch.float64)
    with torch.no_grad():
        layer.weight_ih_l0.copy_(torch.eye(gates.shape[2]))
        layer.weight_hh_l0.copy_(weight)
        if bias:
            layer.bias_ih_l0.zero_()
            layer.bias_hh_l0.zero_()
            layer.bias_hh_l0[-len(rest[1]) :] = rest[1]
        state = (hidden[None], rest[0][None]) if kind == "lstm" else hidden[None]
        output, last = layer(gates, state)
    return output, *(each[0] for each in (last if kind == "lstm" else (last,)))


def reversed_too(kind: str, tensors: Tensors, reverse: bool) -> Tensors:
    """The expected values of the steps in either order, in the dtype of the operands."""
    gates, *rest = tensors
    output, *last = expected(kind, (gates.flip(0) if reverse else gates, *rest))
    return tuple(each.to(gates.dtype) for each in (output.flip(0) if reverse else output, *last))


@of_every_kind
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("steps", "batch", "units"),
    [(5, 1, 8), (1, 1, 1), (7, 3, 5), (3, 4, 130), (3, 1, 300), (4, 5, 6), (3, 9, 33), (2, 33, 16)],
)
def test_steps_follow_one_another(
    kernels: Kernels, kind: str, steps: int, batch: int, units: int, reverse: bool
) -> None:
    tensors = operands(kind, steps, batch, units)
    results = reversed_too(kind, tensors, reverse)
    name = name_of(kind)
    for variant, threads, is_dynamic in itertools.product(kernels.variants(name), (1, 2), (False, True)):
        outs = [poison(torch.empty_like(each)) for each in results]
        given = [*tensors, reverse, *outs]
        kernels.run(name, given, dynamic=outs if is_dynamic else (), variant=variant, threads=threads)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=1e-5, atol=2e-6)


@of_every_kind
@pytest.mark.parametrize("dtype", FLOATING)
def test_every_dtype(kernels: Kernels, kind: str, dtype: torch.dtype) -> None:
    tensors = operands(kind, 6, 2, 40, dtype)
    results = reversed_too(kind, tensors, reverse=False)
    # Hidden states and cells are rounded once per step.
    atol = 4 * torch.finfo(dtype).eps
    for variant, threads, is_dynamic in itertools.product(
        kernels.variants(name_of(kind)), (1, 2), (False, True)
    ):
        outs = [poison(torch.empty_like(each)) for each in results]
        given = [*tensors, False, *outs]
        dynamic = outs if is_dynamic else ()
        kernels.run(name_of(kind), given, dynamic=dynamic, variant=variant, threads=threads)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=2 * atol, atol=2 * atol)


def test_a_gru_needs_no_bias(kernels: Kernels) -> None:
    gates, hidden, weight, bias = operands("gru", 4, 2, 21)
    results = expected("gru", (gates, hidden, weight, torch.zeros_like(bias)))
    for variant in kernels.variants("rushlight::gru.out"):
        outs = [poison(torch.empty(each.shape)) for each in results]
        kernels.run("rushlight::gru.out", [gates, hidden, weight, None, False, *outs], variant=variant)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result.float(), rtol=1e-5, atol=2e-6)


@of_every_kind
def test_results_do_not_depend_on_threads_or_the_batch(kernels: Kernels, kind: str) -> None:
    tensors = operands(kind, 3, 7, 300)
    name = name_of(kind)

    def states(batch: int) -> list[torch.Tensor]:
        last = 2 if kind == "lstm" else 1
        return [torch.empty(3, batch, 300), *(torch.empty(batch, 300) for _ in range(last))]

    # One row of the batch; weight and bias stay.
    single = [
        each[:, 2:3].contiguous() if each.dim() == 3 else each[2:3] if len(each) == 7 else each
        for each in tensors
    ]
    for variant in kernels.variants(name):
        whole, threaded, alone = states(7), states(7), states(1)
        kernels.run(name, [*tensors, False, *whole], variant=variant)
        kernels.run(name, [*tensors, False, *threaded], threads=3, variant=variant)
        kernels.run(name, [*single, False, *alone], variant=variant)
        for a, b in zip(whole, threaded, strict=True):
            assert torch.equal(a, b)
        assert torch.equal(whole[0][:, 2:3], alone[0]) and torch.equal(whole[-1][2:3], alone[-1])


@of_every_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_no_scratch_memory_is_needed(kernels: Kernels, kind: str, dtype: torch.dtype) -> None:
    tensors = operands(kind, 2, 11, 20, dtype)
    results = reversed_too(kind, tensors, reverse=False)
    rtol, atol = (1e-5, 2e-6) if dtype == torch.float32 else (4e-3, 4e-3)
    for variant in kernels.variants(name_of(kind)):
        outs = [poison(torch.empty_like(each)) for each in results]
        kernels.run(name_of(kind), [*tensors, False, *outs], temporary_bytes=0, variant=variant)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=rtol, atol=atol)


@of_every_kind
@pytest.mark.parametrize(("steps", "batch", "units"), [(0, 2, 3), (4, 0, 3), (4, 2, 0), (0, 0, 0)])
def test_nothing_may_be_there(kernels: Kernels, kind: str, steps: int, batch: int, units: int) -> None:
    tensors = operands(kind, steps, batch, units)
    initial = tensors[1:3] if kind == "lstm" else tensors[1:2]
    for variant in kernels.variants(name_of(kind)):
        outs = [
            poison(torch.empty(steps, batch, units)),
            *(poison(torch.empty(batch, units)) for _ in initial),
        ]
        kernels.run(name_of(kind), [*tensors, False, *outs], variant=variant)
        if steps == 0:  # the state stays unchanged
            for out, state in zip(outs[1:], initial, strict=True):
                assert torch.equal(out, state)


@of_every_kind
def test_tensors_may_lie_in_any_order(kernels: Kernels, kind: str) -> None:
    tensors = operands(kind, 3, 4, 5)
    results = reversed_too(kind, tensors, reverse=False)
    gates, *rest = tensors
    laid_out = [
        with_dim_order(gates, [1, 2, 0]),
        *(with_dim_order(each, [1, 0]) if each.dim() == 2 else each for each in rest),
    ]
    for variant in kernels.variants(name_of(kind)):
        outs = [poison(with_dim_order(torch.empty(3, 4, 5), [2, 0, 1]))]
        outs += [poison(with_dim_order(torch.empty(4, 5), [1, 0])) for _ in results[1:]]
        kernels.run(name_of(kind), [*laid_out, False, *outs], variant=variant)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (0, torch.ones(2, 24), "gates: expected 3 dimensions, got 2"),
        (0, torch.ones(5, 2, 23), "gates: expected a multiple of 4 for dimension 2, got 23"),
        (1, torch.ones(3, 6), "hidden: expected sizes [2, 6]"),
        (2, torch.ones(2, 5), "cell: expected sizes [2, 6]"),
        (2, torch.ones(1, 2, 6), "cell: expected sizes [2, 6]"),
        (3, torch.ones(6, 24), "weight: expected sizes [24, 6]"),
        (3, torch.ones(24, 6, dtype=torch.float64), "gates and weight"),
        (5, torch.ones(5, 2, 5), "shape"),
        (6, torch.ones(3, 6), "shape"),
        (7, torch.ones(2, 6, dtype=torch.float16), "gates and out2"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(kernels: Kernels, changed: int, value: Any, named: str) -> None:
    tensors = [torch.ones(5, 2, 24), torch.ones(2, 6), torch.ones(2, 6), torch.ones(24, 6)]
    arguments: list[Any] = [*tensors, False, torch.ones(5, 2, 6), torch.ones(2, 6), torch.ones(2, 6)]
    arguments[changed] = value
    with pytest.raises(KernelRefused) as refused:
        kernels.run("rushlight::lstm.out", arguments)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (0, torch.ones(5, 2, 17), "gates: expected a multiple of 3 for dimension 2, got 17"),
        (3, torch.ones(5), "bias: expected sizes [6]"),
        (3, torch.ones(1, 6), "bias: expected sizes [6]"),
        (3, torch.ones(6, dtype=torch.float64), "gates and bias"),
    ],
)
def test_a_gru_refuses_by_name(kernels: Kernels, changed: int, value: Any, named: str) -> None:
    arguments: list[Any] = [torch.ones(5, 2, 18), torch.ones(2, 6), torch.ones(18, 6), torch.ones(6), False]
    arguments += [torch.ones(5, 2, 6), torch.ones(2, 6)]
    arguments[changed] = value
    with pytest.raises(KernelRefused) as refused:
        kernels.run("rushlight::gru.out", arguments)
    assert named in str(refused.value)
