# SPDX-License-Identifier: BSD-3-Clause
"""Results written over inputs: where a kernel reads each element before it writes the one in its place,
and nobody reads that input afterwards, both have one storage."""

from __future__ import annotations

from rushlight.export.lower.instructions import Call, LoweredMethod, Place, Storage, TensorOperand, leaves
from rushlight.export.lower.lifetimes import Lifetime, lifetimes
from rushlight.export.lower.uses import move_tensors, storage_uses

# Operators, without overload, that compute each element of the result from the elements in its place.
_UNARY = """
abs acos acosh angle asin asinh atan atanh bitwise_not ceil celu clamp clamp_max clamp_min cos cosh deg2rad
digamma elu erf erfc erfinv exp exp2 expm1 floor frac gelu hardshrink hardsigmoid hardswish hardtanh i0
leaky_relu lgamma log log10 log1p log2 logical_not logit log_sigmoid mish nan_to_num neg rad2deg reciprocal
relu round rsqrt sgn sigmoid sign silu sin sinc sinh softplus softshrink sqrt square tan tanh threshold trunc
"""
_BINARY = """
add sub mul div floor_divide fmod remainder rsub pow atan2 maximum minimum fmax fmin bitwise_and bitwise_or
bitwise_xor logical_and logical_or logical_xor eq ne lt le gt ge hypot copysign xlogy lerp addcmul addcdiv
where masked_fill heaviside logaddexp logaddexp2 nextafter
"""
ELEMENTWISE = frozenset(f"aten::{name}" for name in f"{_UNARY} {_BINARY}".split())


def is_elementwise(row: str) -> bool:
    """Whether the row's result may be written over an input of its shape."""
    return row.partition(".")[0] in ELEMENTWISE


def reuse_inputs(method: LoweredMethod) -> int:
    """Join storages of results with those of inputs that end there; how many were joined."""
    lives = {id(life.storage): life for life in lifetimes(method)}
    uses = storage_uses(method)
    joined = 0
    for position, instruction in enumerate(method.code, 1):
        if not isinstance(instruction, Call) or not is_elementwise(instruction.row):
            continue
        if len(instruction.results) != 1 or not isinstance(instruction.results[0], TensorOperand):
            continue
        result = instruction.results[0]
        own = lives.get(id(result.storage))
        if own is None or not _begins(own, result, position):
            continue
        over = _ending_input(instruction, result, lives, position)
        if over is None:
            continue
        theirs = uses[id(over)]
        mine = uses[id(result.storage)]
        move_tensors(mine, over)
        theirs.tensors.update(mine.tensors)
        lives[id(over)].last = own.last
        joined += 1
    return joined


def _begins(life: Lifetime, result: TensorOperand, position: int) -> bool:
    storage = result.storage
    return life.first == position and storage.place is Place.PLANNED and result.nbytes == storage.nbytes


def _ending_input(
    call: Call, result: TensorOperand, lives: dict[int, Lifetime], position: int
) -> Storage | None:
    """The storage of an input like the result that nothing reads later."""
    tensors = [
        leaf for leaf in leaves(call.arguments) if isinstance(leaf, TensorOperand) and leaf is not result
    ]
    for tensor in tensors:
        storage = tensor.storage
        life = lives.get(id(storage))
        if life is None or life.last != position or storage.place is not Place.PLANNED:
            continue
        if storage.bank != result.storage.bank or not is_alike(tensor, result):
            continue
        if tensor.offset or tensor.nbytes != storage.nbytes:
            continue
        if all(other is tensor for other in tensors if other.storage is storage):
            return storage
    return None


def is_alike(a: TensorOperand, b: TensorOperand) -> bool:
    """Whether two tensors have their elements in the same places, in every run."""
    return all(
        getattr(a, name) == getattr(b, name)
        for name in ("dtype", "sizes", "symbols", "dim_order", "is_dynamic")
    )
