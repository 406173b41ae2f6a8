# SPDX-License-Identifier: BSD-3-Clause
"""Torch tensors in and out, where the caller has torch."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight import process
from rushlight.errors import InvalidArgument
from rushlight.runtime import Method, Runtime
from support.programs import Plan, program, scalar, tensor

torch = pytest.importorskip("torch", reason="torch is not installed")

DTYPES = "uint8 int8 int16 int32 int64 float16 float32 float64 bool bfloat16 uint16 uint32 uint64 complex64"

WITHOUT_TORCH = """
import sys, numpy as np, rushlight
program = rushlight.load(sys.argv[1])
print([type(out).__name__ for out in program.forward(np.zeros(2, np.float32))], "torch" in sys.modules)
"""


def echo(dtype: str = "float32", *, planned: bool = True, **options: object) -> Method:
    """A method that gives its one input back, and a number."""
    values = [tensor(dtype, memory_id=int(planned), **options), scalar(7)]  # type: ignore[arg-type]
    return rushlight.load(program(Plan(values=values, inputs=[0], outputs=[0, 1]))).method("forward")


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("dtype", DTYPES.split())
def test_tensors_of_every_dtype_give_tensors(dtype: str, planned: bool) -> None:
    given = torch.tensor([0, 1]).to(getattr(torch, dtype))
    out, number = echo(dtype, planned=planned)(given)
    assert out.dtype is given.dtype
    assert torch.equal(out, given)
    assert number == 7


def test_one_tensor_among_the_inputs_makes_all_outputs_tensors() -> None:
    plan = Plan(values=[tensor("float32"), tensor("float32", offset=16)], inputs=[0, 1], outputs=[1, 0])
    method = rushlight.load(program(plan)).method("forward")
    array = np.float32([1, 2])
    assert all(isinstance(out, torch.Tensor) for out in method(array, torch.ones(2)))
    assert all(isinstance(out, np.ndarray) for out in method(array, array))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_unplanned_tensor_is_used_in_place(dtype: str) -> None:
    given = torch.zeros(2, dtype=getattr(torch, dtype))
    view, _ = echo(dtype, planned=False).execute([given], outputs="writable")
    view[0] = 3
    assert given[0] == 3


def test_tensors_of_any_layout_go_in() -> None:
    method = echo(sizes=(2, 3))
    base = torch.arange(24.0).reshape(4, 6)
    for given in (base[::2, ::2], base[:3, :2].T, base[:2, :3].requires_grad_(), base[:1, :3].expand(2, 3)):
        assert torch.equal(method(given)[0], given.detach())
    strided = torch.arange(12.0).bfloat16()[::6]
    assert torch.equal(echo("bfloat16")(strided)[0], strided)


def test_channels_last_comes_out_as_channels_last() -> None:
    method = echo(planned=False, sizes=(1, 2, 3, 4), dim_order=(0, 2, 3, 1))
    given = torch.arange(24.0).reshape(1, 2, 3, 4)
    for image in (given, given.to(memory_format=torch.channels_last)):
        out, _ = method(image)
        assert torch.equal(out, given)
        assert out.is_contiguous(memory_format=torch.channels_last)


def test_outputs_are_the_callers_own() -> None:
    method = echo()
    first, _ = method(torch.tensor([1.0, 2.0]))
    method(torch.tensor([3.0, 4.0]))
    assert first.tolist() == [1, 2]


def test_a_wrong_tensor_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="input 0: expected dtype float32, got float64"):
        echo()(torch.zeros(2, dtype=torch.float64))
    with pytest.raises(InvalidArgument, match=r"input 0: expected shape \[2\], got \[3\]"):
        echo()(torch.zeros(3))


def test_the_official_shape_takes_tensors() -> None:
    data = program(Plan(values=[tensor("bfloat16")], inputs=[0], outputs=[0]))
    method = Runtime.get().load_program(data).load_method("forward")
    assert torch.equal(method.execute((torch.ones(2).bfloat16(),))[0], torch.ones(2).bfloat16())


def test_torch_is_not_imported_for_arrays(tmp_path: Path) -> None:
    path = tmp_path / "echo.pte"
    path.write_bytes(program(Plan(values=[tensor("float32")], inputs=[0], outputs=[0])))
    ran = process.run([sys.executable, "-c", WITHOUT_TORCH, path])
    assert ran.stdout.split() == ["['ndarray']", "False"], ran.stderr
