# SPDX-License-Identifier: BSD-3-Clause
"""Metadata of programs and their methods, and of the runtime."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidProgram, MethodNotFound, OperatorNotFound
from rushlight.runtime import Runtime, runtime_info
from support.programs import Plan, program, scalar, tensor

INTEROP = Path(__file__).parents[2] / "interop"


def test_inputs_and_outputs_are_described_without_loading_the_method() -> None:
    plan = Plan(
        values=[tensor("bfloat16", (2, 3)), scalar(2.5), tensor("int64", (4, 1), memory_id=0, dynamic=True)],
        operators=[("acme::missing", "out")],
        inputs=[0, 1, 2],
        outputs=[2, 1],
    )
    meta = rushlight.load(program(plan)).metadata("forward")
    assert (meta.name(), meta.num_inputs(), meta.num_outputs(), meta.num_attributes()) == ("forward", 3, 2, 0)
    first, last = meta.input_tensor_meta(0), meta.output_tensor_meta(0)
    assert (first.sizes(), first.dtype(), first.nbytes()) == ((2, 3), 15, 12)
    assert first.is_memory_planned() and not first.is_dynamic()
    assert (last.sizes(), last.dtype(), last.nbytes()) == ((4, 1), 4, 32)
    assert last.is_dynamic() and not last.is_memory_planned()
    assert [meta.input_kind(i) for i in range(3)] == ["Tensor", "Double", "Tensor"]
    assert meta.operators == ["acme::missing.out"]
    assert repr(first) == "TensorInfo(sizes=[2, 3], dtype=BFloat16, is_memory_planned=True, nbytes=12)"


@pytest.mark.parametrize("index", [-1, 1, 5])
def test_what_is_no_tensor_has_no_tensor_meta(index: int) -> None:
    plan = Plan(values=[tensor("float32"), scalar(1)], inputs=[0, 1], outputs=[0, 1])
    meta = rushlight.load(program(plan)).metadata("forward")
    for function in (meta.input_tensor_meta, meta.output_tensor_meta, meta.attribute_tensor_meta):
        with pytest.raises(IndexError, match="forward"):
            function(index)


def test_an_unknown_method_has_no_metadata() -> None:
    with pytest.raises(MethodNotFound, match="encode"):
        rushlight.load(INTEROP / "multi_method" / "model.pte").metadata("nowhere")


def test_sizes_that_no_memory_has_are_refused() -> None:
    plan = Plan(values=[tensor("float32", (1 << 30,) * 3)], inputs=[0])
    with pytest.raises(InvalidProgram):
        rushlight.load(program(plan)).metadata("forward")


@pytest.mark.parametrize("name", ["model_dscnn", "cond_sum", "list_split_cat", "kv_cache_renamed", "scan"])
def test_the_memory_of_a_method_is_known_before_it_is_loaded(name: str) -> None:
    loaded = rushlight.load(INTEROP / name / "model.pte", optimize=False)
    ahead = loaded.memory("forward")
    try:
        used = loaded.load_method("forward").memory()
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.operators)}")
    assert ahead.method_arena_64 == used["method_arena"]
    assert 0 < ahead.method_arena_32 < ahead.method_arena_64
    assert list(ahead.planned) == used["planned"]


def test_scratch_is_reported_after_it_was_used() -> None:
    method = rushlight.load(program(Plan(values=[scalar(1)], outputs=[0]))).method("forward")
    assert method.execute([]) == [1]
    assert method.memory()["temporary_peak"] == 0


def test_the_runtime_tells_what_it_is() -> None:
    info = runtime_info()
    assert info["version"] == rushlight.__version__
    assert info["formats"]["pte"] == {"identifier": "ET12", "schema_versions": [0]}
    assert set(info["operators"]) == Runtime.get().operator_registry.operator_names
    assert all(isinstance(dtypes, list) for dtypes in info["operators"].values())
    assert info["backends"] == Runtime.get().backend_registry.registered_backend_names
    assert info["build"]["log_level"] in ("debug", "info", "error", "off")
    assert isinstance(info["build"]["event_tracing"], bool)
    assert info["sizes"]["EValue"] == 16
    assert info["platform"]["numpy"] == np.__version__
    assert json.loads(json.dumps(info)) == info


def test_an_operator_computes_in_the_dtypes_that_are_listed() -> None:
    operators = runtime_info()["operators"]
    if "aten::maximum.out" not in operators:
        pytest.skip("this build does not have aten::maximum.out")
    assert "float32" in operators["aten::maximum.out"]
    assert "complex64" not in operators["aten::maximum.out"]
