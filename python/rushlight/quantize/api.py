# SPDX-License-Identifier: BSD-3-Clause
"""Quantizes modules: after training in one call, or in steps with training between prepare and convert."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from rushlight.errors import InvalidArgument
from rushlight.quantize.config import Static
from rushlight.quantize.correct_bias import correct_biases, float_means
from rushlight.quantize.equalize import equalize as equalize_links
from rushlight.quantize.fold import drop_unread_state, fold_grouped_weights
from rushlight.quantize.parameters import flat_inputs
from rushlight.quantize.quantizer import RushlightQuantizer
from rushlight.quantize.ranges import found_ranges, keep_ranges
from rushlight.quantize.summary import attach, found_report, warn_of_float


def quantize(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    calibration: Iterable[Sequence[Any]] | None = None,
    quantizer: RushlightQuantizer | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    equalize: bool = False,
    correct_bias: bool = False,
) -> GraphModule:
    """Quantizes a trained module.

    Args:
        module: the module to quantize; it is not changed.
        example_inputs: positional inputs, as for torch.export.export.
        calibration: tuples of positional inputs with the distribution of real inputs, from which static
            schemes take their ranges. Not needed without static schemes.
        quantizer: assigns a scheme to each module; Static() for all by default.
        kwargs, dynamic_shapes: as for torch.export.export.
        equalize: scale the channels between two static layers by powers of two, so that they use their
            range equally. Float results stay bit-exact.
        correct_bias: add the mean error of each layer's result on the calibration inputs to its bias.

    Returns:
        A graph module with quantize and dequantize operators, for torch.export or rushlight.export.

    Emits a QuantizationWarning that lists weights and control flow left in float; `report` of the result
    lists every operator left in float.

    Errors: InvalidArgument if a static scheme has no calibration, or if a name matches no module.

    Example:
        graph = rushlight.quantize(model.eval(), inputs, calibration=batches)
        rushlight.export(graph, inputs).save("model.pte")
    """
    quantizer = quantizer or RushlightQuantizer()
    if equalize or correct_bias:
        calibration = list(calibration or ())
        if not calibration:
            raise InvalidArgument("calibration: expected inputs for equalize and correct_bias, got none")
    prepared = calibrated(
        module, example_inputs, calibration, quantizer, kwargs, dynamic_shapes, equalize=equalize
    )
    if not correct_bias:
        return convert(prepared)
    batches = [flat_inputs(inputs, kwargs) for inputs in calibration or ()]
    means = float_means(prepared, batches)
    converted = convert(prepared)
    correct_biases(converted, batches, means)
    return converted


def calibrated(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    calibration: Iterable[Sequence[Any]] | None,
    quantizer: RushlightQuantizer,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    *,
    equalize: bool = False,
) -> GraphModule:
    """The module's graph with observers that have seen the calibration inputs. Errors: as for `quantize`."""
    graph = _capture(module, example_inputs, kwargs, dynamic_shapes, training=False)
    if equalize:
        calibration = list(calibration or ())
        equalize_links(graph, [flat_inputs(inputs, kwargs) for inputs in calibration], quantizer)
    prepared = _prepared(graph, quantizer)
    seen = 0
    with torch.no_grad():
        for inputs in calibration or ():
            prepared(*inputs, **(kwargs or {}))
            seen += 1
        if not seen and any(isinstance(scheme, Static) for scheme in quantizer.schemes()):
            raise InvalidArgument(
                "calibration: expected inputs for the ranges of static quantization, got none",
                next_step="Pass an iterable of input tuples, or use a Dynamic or WeightOnly scheme.",
            )
        if not seen:
            prepared(*example_inputs, **(kwargs or {}))  # weight observers need one call too
    return prepared


def prepare(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    quantizer: RushlightQuantizer,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> GraphModule:
    """Inserts observers into the module's graph. Call the result with calibration inputs, then `convert` it.

    Args: as for `quantize`. The module is not changed. Errors: InvalidArgument for a name that matches no
    module.

    Example:
        prepared = prepare(model, inputs, RushlightQuantizer())
        for batch in batches:
            prepared(*batch)
        graph = convert(prepared)
    """
    return _prepared(_capture(module, example_inputs, kwargs, dynamic_shapes, training=False), quantizer)


def _prepared(graph: GraphModule, quantizer: RushlightQuantizer) -> GraphModule:
    quantizer.check_names(graph)
    prepared = prepare_pt2e(graph, quantizer)
    warn_of_float(quantizer.report)
    return attach(prepared, quantizer.report)


def prepare_training(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    quantizer: RushlightQuantizer,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> GraphModule:
    """Inserts fake quantization into the module's graph, in training mode. Train the result, then `convert`
    it.

    The graph shares the module's parameters. Errors: InvalidArgument for a name that matches no module.
    """
    graph = _capture(module, example_inputs, kwargs, dynamic_shapes, training=True)
    quantizer.check_names(graph)
    trained = quantizer.for_training()
    prepared = prepare_qat_pt2e(graph, trained)
    warn_of_float(trained.report)
    return attach(prepared, trained.report)


def convert(prepared: GraphModule) -> GraphModule:
    """Converts a graph of `prepare` or `prepare_training` to a quantized one.

    Weights become integers, activations pass through quantize and dequantize operators. Ranges that the
    observers have seen stay available through `ranges`.
    """
    made, seen = found_report(prepared), found_ranges(prepared)
    converted = convert_pt2e(_in_evaluation(prepared))
    fold_grouped_weights(converted)
    drop_unread_state(converted)
    keep_ranges(converted, seen)
    return attach(converted, made) if made is not None else converted


def _in_evaluation(graph: GraphModule) -> GraphModule:
    """The graph in evaluation mode. torchao's function exports six patterns to find calls with a mode, which
    takes longer than quantizing a small network; it is skipped if the graph has no such call."""
    called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    has_mode = any("dropout" in name or "batch_norm" in name for name in called)
    return move_exported_model_to_eval(graph) if has_mode else graph


def _capture(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    training: bool,
) -> GraphModule:
    before = module.training
    module.train(training)
    try:
        program = torch.export.export(
            module, tuple(example_inputs), dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=False
        )
    finally:
        module.train(before)
    return program.module(check_guards=False)
