# SPDX-License-Identifier: BSD-3-Clause
"""Writes litert.npz: quantized layers as LiteRT (TensorFlow Lite) computes them, by its reference kernels,
which round twice, and by its XNNPACK, which multiplies by a float32.

    pip install ai-edge-litert
    python tests/kernels/quantized/make_litert_vectors.py tests/kernels/quantized/litert.npz

Each layer is a model of one operator. The file has for layer i the arrays "<i>.input", "<i>.weight",
"<i>.bias", "<i>.double" and "<i>.float" (what the two return; "int16" has no "float") in LiteRT's layouts
(channels last), and "layers", a JSON list of everything else.

The reference of FULLY_CONNECTED in LiteRT 2.3 differs from the one of its convolutions: it rounds once,
halves away from zero (found with sums of -128 to 127 times 1/4), and for int16 it uses all bits of the
multiplier. Linear layers whose sums are such halves, and int16 layers, are therefore convolutions of 1 x 1
("pointwise").
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

# kind, input shape [N, H, W, C] or [rows, depth], outputs, and settings that differ from the defaults below.
LAYERS: list[tuple[str, tuple[int, ...], int, dict[str, Any]]] = [
    ("convolution", (1, 5, 6, 3), 8, {}),
    ("convolution", (2, 5, 4, 4), 5, {"padding": "same", "stride": (2, 1), "kernel": (3, 2)}),
    (
        "convolution",
        (1, 9, 8, 2),
        4,
        {"dilation": (2, 3), "kernel": (2, 3), "activation": "relu6", "spread": 1.5},
    ),
    ("convolution", (1, 4, 4, 17), 9, {"kernel": (1, 1), "activation": "relu"}),
    ("convolution", (1, 6, 6, 1), 4, {"padding": "same", "kernel": (5, 3), "spread": 1.5}),
    ("convolution", (1, 4, 4, 6), 4, {"groups": 2, "padding": "same"}),
    ("convolution", (1, 5, 5, 2), 6, {"ties": -3, "narrow": 20}),
    ("convolution", (1, 5, 5, 2), 6, {"ties": -1, "narrow": 12, "per_channel": False}),
    ("convolution", (1, 3, 3, 1), 4, {"kernel": (1, 1), "ties": 1, "narrow": 5}),
    ("convolution", (1, 5, 6, 3), 4, {"dtype": "uint8", "per_channel": False, "padding": "same"}),
    ("depthwise", (1, 6, 5, 7), 1, {}),
    ("depthwise", (2, 5, 5, 4), 1, {"padding": "same", "stride": (2, 2), "activation": "relu"}),
    ("depthwise", (1, 5, 7, 3), 2, {"padding": "same", "kernel": (3, 5)}),
    ("depthwise", (1, 7, 7, 2), 1, {"dilation": (2, 2), "spread": 1.5}),
    ("depthwise", (1, 6, 6, 5), 1, {"ties": -2, "narrow": 18}),
    (
        "depthwise",
        (1, 5, 5, 4),
        1,
        {"dtype": "uint8", "per_channel": False, "activation": "relu6", "spread": 0.3},
    ),
    ("linear", (3, 33), 7, {"per_channel": False}),
    ("linear", (3, 64), 10, {"per_channel": False, "activation": "relu"}),
    ("linear", (4, 16), 9, {}),
    ("pointwise", (8, 5), 6, {"ties": -2, "narrow": 15, "per_channel": False}),
    ("pointwise", (9, 4), 5, {"ties": -4, "narrow": 30, "per_channel": False}),
    ("pointwise", (6, 3), 4, {"ties": 2, "narrow": 3, "per_channel": False}),
    ("linear", (3, 20), 6, {"dtype": "uint8", "per_channel": False}),
    ("convolution", (1, 5, 6, 3), 8, {"dtype": "int16"}),
    ("convolution", (2, 5, 4, 4), 5, {"dtype": "int16", "padding": "same", "stride": (2, 1), "spread": 1.5}),
    ("convolution", (1, 9, 8, 2), 4, {"dtype": "int16", "dilation": (2, 3), "activation": "relu"}),
    ("convolution", (1, 4, 4, 70), 9, {"dtype": "int16", "activation": "relu"}),
    ("depthwise", (1, 6, 5, 7), 1, {"dtype": "int16"}),
    ("depthwise", (2, 5, 5, 4), 1, {"dtype": "int16", "padding": "same", "stride": (2, 2), "spread": 0.3}),
    ("pointwise", (3, 33), 7, {"dtype": "int16", "per_channel": False}),
    ("pointwise", (3, 600), 10, {"dtype": "int16", "per_channel": False, "activation": "relu"}),
]
DEFAULTS: dict[str, Any] = {
    "padding": "valid", "stride": (1, 1), "dilation": (1, 1), "kernel": (3, 3), "groups": 1,
    "activation": "none", "dtype": "int8", "per_channel": True,
    "spread": 1.0,  # part of the range that outputs cover; above 1 many saturate
    "ties": None,  # scales whose quotient is this power of two: rounding meets halves
    "narrow": 127,  # the largest input; if it is small, weights are small too
}  # fmt: skip
OPERATORS = {"convolution": 3, "depthwise": 4, "pointwise": 3, "linear": 9}
OPTIONS = {
    "convolution": schema.BuiltinOptions.Conv2DOptions,
    "depthwise": schema.BuiltinOptions.DepthwiseConv2DOptions,
    "pointwise": schema.BuiltinOptions.Conv2DOptions,
    "linear": schema.BuiltinOptions.FullyConnectedOptions,
}
ACTIVATIONS = {"none": 0, "relu": 1, "relu6": 3}
TYPES = {
    "int8": schema.TensorType.INT8, "uint8": schema.TensorType.UINT8, "int16": schema.TensorType.INT16,
    "int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64,
}  # fmt: skip
# Versions of the operators with 16-bit activations.
VERSIONS = {"convolution": 4, "pointwise": 4, "depthwise": 5}


def _quantization(scales: np.ndarray, zero_point: int = 0, dimension: int = 0) -> Any:
    made = schema.QuantizationParametersT()
    made.scale = [float(scale) for scale in scales]
    made.zeroPoint = [zero_point] * len(scales)
    made.quantizedDimension = dimension
    return made


def _tensor(name: str, shape: tuple[int, ...], dtype: str, buffer: int, quantization: Any) -> Any:
    made = schema.TensorT()
    made.name, made.shape, made.type = name.encode(), list(shape), TYPES[dtype]
    made.buffer, made.quantization = buffer, quantization
    return made


def _options(kind: str, settings: dict[str, Any], multiplier: int) -> Any:
    if kind == "linear":
        made = schema.FullyConnectedOptionsT()
    else:
        made = schema.DepthwiseConv2DOptionsT() if kind == "depthwise" else schema.Conv2DOptionsT()
        made.padding = schema.Padding.SAME if settings["padding"] == "same" else schema.Padding.VALID
        made.strideH, made.strideW = settings["stride"]
        made.dilationHFactor, made.dilationWFactor = settings["dilation"]
        if kind == "depthwise":
            made.depthMultiplier = multiplier
    made.fusedActivationFunction = ACTIVATIONS[settings["activation"]]
    return made


def _model(kind: str, options: Any, tensors: list[Any], buffers: list[bytes], is_wide: bool) -> bytes:
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = OPERATORS[kind]
    code.version = VERSIONS[kind] if is_wide else 3 if kind != "linear" else 4
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0, 1, 2], [3]
    operator.builtinOptionsType, operator.builtinOptions = OPTIONS[kind], options
    graph = schema.SubGraphT()
    graph.tensors, graph.inputs, graph.outputs, graph.operators = tensors, [0], [3], [operator]
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], []
    for data in buffers:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(data, np.uint8) if data else None
        model.buffers.append(buffer)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _output_shape(
    kind: str, shape: tuple[int, ...], outputs: int, settings: dict[str, Any]
) -> tuple[int, ...]:
    if kind == "linear":
        return (shape[0], outputs)
    sizes = []
    for size, kernel, stride, dilation in zip(
        shape[1:3], settings["kernel"], settings["stride"], settings["dilation"], strict=True
    ):
        reach = dilation * (kernel - 1) + 1
        sizes.append(-(-(size if settings["padding"] == "same" else size - reach + 1) // stride))
    return (shape[0], *sizes, outputs)


def _run(model: bytes, x: np.ndarray, resolver: Any) -> np.ndarray:
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).copy()


def make(
    index: int, kind: str, shape: tuple[int, ...], outputs: int, given: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The settings and the arrays of layer `index`."""
    settings = DEFAULTS | given
    rows = shape
    if kind == "pointwise":
        shape, settings = (1, rows[0], 1, rows[1]), settings | {"kernel": (1, 1)}
    random = np.random.RandomState(index)
    dtype, narrow = settings["dtype"], settings["narrow"]
    lead = 128 if dtype == "uint8" else 0
    channels = shape[-1]
    columns = channels * outputs if kind == "depthwise" else outputs
    weight_shape = {
        "convolution": (outputs, *settings["kernel"], channels // settings["groups"]),
        "depthwise": (1, *settings["kernel"], columns),
        "pointwise": (outputs, 1, 1, channels),
        "linear": (outputs, channels),
    }[kind]
    is_wide = dtype == "int16"
    x = (random.randint(-narrow - (narrow == 127), narrow + 1, shape) + lead).astype(dtype)
    if is_wide:
        x = random.randint(-(1 << 15), 1 << 15, shape).astype(dtype)
    largest = 127 if narrow == 127 else 7
    numbers = random.randint(-largest, largest + 1, weight_shape)
    zero_point = int(random.randint(-narrow // 2, narrow // 2 + 1)) + lead
    output_zero_point = int(random.randint(-60, 61)) + lead
    depth = int(np.prod(weight_shape)) // columns
    if kind == "depthwise":
        depth = int(np.prod(settings["kernel"]))
    reach = 60 * 60 * depth**0.5
    bias = random.randint(-2 * int(reach), 2 * int(reach) + 1, columns).astype(np.int32)
    if is_wide:  # sums and outputs grow by the same factor
        zero_point = output_zero_point = 0
        bias = bias.astype(np.int64) * 256
    count = columns if settings["per_channel"] else 1
    input_scale = np.float32(0.0375)
    weight_scales = (random.uniform(0.5, 2.0, count) * 0.0119).astype(np.float32)
    output_scale = np.float32(0.0375 * 0.0119 * reach / (50 * settings["spread"]))
    if settings["ties"] is not None:
        input_scale, output_scale = np.float32(0.5), np.float32(1)
        weight_scales = np.full(count, 2.0 ** (settings["ties"] + 1), np.float32)
        bias = random.randint(-60, 61, columns).astype(np.int32)
    dimension = 3 if kind == "depthwise" else 0
    weight = numbers.astype(np.int8) if is_wide else (numbers + lead).astype(dtype)
    tensors = [
        _tensor("x", shape, dtype, 1, _quantization(np.array([input_scale]), zero_point)),
        _tensor("weight", weight_shape, weight.dtype.name, 2, _quantization(weight_scales, lead, dimension)),
        _tensor("bias", (columns,), bias.dtype.name, 3, _quantization(input_scale * weight_scales)),
        _tensor(
            "y",
            _output_shape(kind, shape, columns, settings),
            dtype,
            4,
            _quantization(np.array([output_scale]), output_zero_point),
        ),
    ]
    model = _model(
        kind,
        _options(kind, settings, outputs),
        tensors,
        [b"", b"", weight.tobytes(), bias.tobytes(), b""],
        is_wide,
    )
    arrays = {
        "input": x,
        "weight": numbers.astype(np.int8),
        "bias": bias,
        "double": _run(model, x, OpResolverType.BUILTIN_REF),
    }
    if not is_wide:  # XNNPACK has no int16
        arrays["float"] = _run(model, x, OpResolverType.AUTO)
    if kind == "depthwise":
        settings["groups"] = channels
    described = {
        "kind": "linear" if kind == "pointwise" else kind,
        **settings,
        "input_scale": float(input_scale),
        "input_zero_point": zero_point,
        "weight_scales": [float(scale) for scale in weight_scales],
        "output_scale": float(output_scale),
        "output_zero_point": output_zero_point,
    }
    if kind == "pointwise":
        ends = {name: (rows[0], -1) for name in ("double", "float") if name in arrays}
        flat = {"input": rows, "weight": (outputs, rows[1]), **ends}
        arrays |= {name: arrays[name].reshape(flat[name]) for name in flat}
    return described, arrays


def make_all() -> dict[str, np.ndarray]:
    """The contents of the file."""
    arrays: dict[str, np.ndarray] = {}
    layers = []
    for index, layer in enumerate(LAYERS):
        described, made = make(index, *layer)
        layers.append(described)
        arrays |= {f"{index}.{name}": array for name, array in made.items()}
    return arrays | {"layers": np.frombuffer(json.dumps(layers).encode(), np.uint8)}


if __name__ == "__main__":
    np.savez_compressed(Path(sys.argv[1]), **make_all())
