# SPDX-License-Identifier: BSD-3-Clause
"""The RAM that is computed ahead is what the runtime takes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import rushlight
from rushlight.errors import InvalidArgument, RushlightError
from rushlight.program import arena_bytes, method_memory, read_program
from support.programs import Plan, numbers, program, scalar, tensor

INTEROP = Path(__file__).parents[2] / "interop"
PROGRAMS = sorted(f"{path.parent.name}/{path.name}" for path in INTEROP.glob("*/*.pte"))


def is_known_ahead(name: str) -> bool:
    """A delegate's own memory is its backend's affair."""
    plans = read_program(INTEROP / name).plans
    return all(not plan.delegates and method_memory(plan).method_arena[64] for plan in plans)


KNOWN_AHEAD = [name for name in PROGRAMS if is_known_ahead(name)]


def test_only_delegates_leave_memory_unknown() -> None:
    unknown = set(PROGRAMS) - set(KNOWN_AHEAD)
    assert all(read_program(INTEROP / name).plans[0].delegates for name in unknown)
    assert len(KNOWN_AHEAD) > 2 * len(unknown)


@pytest.mark.parametrize("name", KNOWN_AHEAD)
@pytest.mark.heavy
def test_the_method_arena_is_what_loading_takes(name: str) -> None:
    """On this 64-bit host; tests/device compares what 32-bit boards report."""
    loaded = rushlight.load(INTEROP / name, integers=False, optimize=False)
    for plan in read_program(INTEROP / name).plans:
        try:
            memory = loaded.load_method(plan.name).memory()
        except RushlightError as error:
            assert "data file" in error.message  # external_ptd needs one
            continue
        assert memory["method_arena"] == method_memory(plan).method_arena[64]
        assert list(memory["planned"]) == list(method_memory(plan).planned)


def test_lists_of_integers_begin_at_multiples_of_eight() -> None:
    """On a 32-bit board a tensor takes 28 bytes, so each second one needs 4 more before integers of 8."""
    arenas = []
    for count in range(1, 6):
        values = [tensor("float32", ()) for _ in range(count)] + [scalar(7), numbers(int, [count])]
        call = (0, [0, count + 1, 0])
        (method,) = read_program(program(Plan(values, [("aten::sum", "x")], [call], inputs=[0]))).plans
        arenas.append(arena_bytes(method, 32))
    steps = [after - before for before, after in pairwise(arenas)]
    assert sorted(set(steps)) == [24, 32] and steps[0] == steps[2] != steps[1] == steps[3]


def agrees_with_the_runtime(data: bytes | Path) -> None:
    loaded = rushlight.load(data, integers=False)
    for plan in read_program(data).plans:
        ahead = loaded.memory(plan.name)
        assert method_memory(plan).method_arena == {32: ahead.method_arena_32, 64: ahead.method_arena_64}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.heavy
def test_arenas_are_those_that_the_runtime_computes_for_both_widths(name: str) -> None:
    agrees_with_the_runtime(INTEROP / name)


@pytest.mark.parametrize("tensors", range(1, 5))
@pytest.mark.parametrize("operators", range(1, 4))
@pytest.mark.heavy
def test_parts_begin_where_the_runtime_has_them(tensors: int, operators: int) -> None:
    """28 bytes a tensor and 4 an operator on a 32-bit board: what follows begins at multiples of 4 or 8."""
    values = [tensor("float32", (2,)) for _ in range(tensors)]
    plan = Plan(values, [("aten::sum", f"x{i}") for i in range(operators)], [(0, [0, 0])], inputs=[0])
    agrees_with_the_runtime(program(plan))
    agrees_with_the_runtime(program(Plan([*values, scalar(7)], plan.operators, [(0, [0, tensors])])))


def test_other_pointers_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="16"):
        arena_bytes(read_program(INTEROP / PROGRAMS[0]).plans[0], 16)


def test_boards_keep_no_constants_of_a_network() -> None:
    """DS-CNN has 280 values, 106 of them tensors of 28 bytes: with all values it would take 9,876 bytes."""
    (network,) = read_program(INTEROP / "model_dscnn" / "model.pte").plans
    assert arena_bytes(network, 32) < 4500
    assert arena_bytes(network, 64) > 2 * arena_bytes(network, 32)


def test_methods_that_compute_numbers_keep_them() -> None:
    (method,) = read_program(INTEROP / "cond_sum" / "model.pte").plans
    assert arena_bytes(method, 32) > 16 * len(method.values)
