# SPDX-License-Identifier: BSD-3-Clause
"""Different schemes for different modules."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, Static, WeightOnly, quantize  # noqa: E402
from support.quantized_models import make_case, relative_error, targets  # noqa: E402


def quantized(name: str, quantizer: RushlightQuantizer):
    case = make_case(name)
    inputs = case.draw()
    graph = quantize(case.module, inputs, case.calibration(), quantizer)
    return graph, relative_error(graph(*inputs), case.module(*inputs))


def weight_dequantizers(graph: torch.fx.GraphModule) -> dict[str, str]:
    """For each layer with a weight, by the node's name, the operator that its weight comes from."""
    layers = {"linear", "conv2d", "conv", "embedding"}
    found = {}
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.name.rstrip("_0123456789") in layers:
            weight = node.args[0 if "embedding" in node.name else 1]
            while weight.op == "call_function" and "reshape" in str(weight.target):
                weight = weight.args[0]
            found[node.name] = (
                "float" if weight.op == "get_attr" else weight.target._schema.name.split("::")[1]
            )
    return found


def test_a_name_goes_before_a_type_and_a_type_before_the_default() -> None:
    quantizer = RushlightQuantizer(
        Static(),
        by_module_name={"head": None},
        by_module_type={nn.Linear: Dynamic(), "torch.nn.modules.conv.Conv2d": WeightOnly()},
    )
    graph, error = quantized("convnet", quantizer)
    assert weight_dequantizers(graph) == {
        "conv2d": "dequantize_per_channel_group",
        "conv2d_1": "dequantize_per_channel_group",
        "conv2d_2": "dequantize_per_channel_group",
        "linear": "float",
    }
    assert "quantize_per_tensor" in targets(graph), "the sum and the pools are static"
    assert error < 0.02


def test_a_path_stands_for_all_modules_inside() -> None:
    quantizer = RushlightQuantizer(None, by_module_name={"attention": Dynamic(), "attention.out_proj": None})
    graph, error = quantized("transformer", quantizer)
    kinds = list(weight_dequantizers(graph).values())
    # The embedding; the projections to query, key and value, and of the result; the two layers behind.
    assert kinds == ["float", "dequantize_per_channel", "float", "float", "float"]
    assert error < 0.01


def test_the_parts_of_a_transformer_each_have_their_scheme() -> None:
    quantizer = RushlightQuantizer(
        Dynamic(),
        by_module_name={"down": Static()},
        by_module_type={nn.Embedding: WeightOnly(bits=4, group_size=8)},
    )
    graph, error = quantized("transformer", quantizer)
    kinds = weight_dequantizers(graph)
    assert kinds["embedding"] == "dequantize_per_channel_group"
    assert list(kinds.values()).count("dequantize_per_channel") == len(kinds) - 1
    assert {"quantize_per_tensor", "choose_qparams"} <= set(targets(graph))
    assert error < 0.1


def test_none_everywhere_leaves_the_model_as_it_is() -> None:
    graph, error = quantized("transformer", RushlightQuantizer(None))
    assert error == 0
    assert not [name for name in targets(graph) if "quantize" in name]


def test_a_name_that_no_module_has_is_an_error_with_those_like_it() -> None:
    with pytest.raises(InvalidArgument, match="got 'stm'; did you mean stem"):
        quantized("convnet", RushlightQuantizer(by_module_name={"stm": None}))
