# SPDX-License-Identifier: BSD-3-Clause
"""Options of commands that quantize a model."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import echo
from rushlight.cli.values import PATH
from rushlight.errors import InvalidArgument

WORDS = ("int8", "int16x8", "dynamic", "int8-weights", "int4-weights")
_GROUP = 32


@dataclass
class Quantizing:
    """The values of the options; `apply` quantizes the arguments of an export."""

    word: str | None
    calibrate: Path | None
    equalize: bool = False
    correct_bias: bool = False
    graph: Any = field(default=None, init=False)

    def apply(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of `rushlight.export` with the model's quantized graph. Errors: InvalidArgument."""
        if self.word is None:
            if self.calibrate is not None or self.equalize or self.correct_bias:
                raise InvalidArgument(
                    "--calibrate: expected --quantize beside it, got none", next_step="Add --quantize int8."
                )
            return arguments
        from rushlight.quantize import QuantizationWarning, quantize

        module, args, kwargs, shapes = self.model(arguments)
        batches = self.batches(args, shapes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QuantizationWarning)  # the report repeats them
            self.graph = quantize(
                module,
                args,
                batches,
                self.quantizer(),
                kwargs=kwargs,
                dynamic_shapes=shapes,
                equalize=self.equalize,
                correct_bias=self.correct_bias,
            )
        return (self.graph, *arguments[1:])

    def model(self, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any, Any]:
        """Module, inputs, keyword inputs and dynamic shapes of the model. Error: InvalidArgument."""
        if len(arguments) < 2:
            raise InvalidArgument(
                "--quantize: expected a factory of one method, got one of several",
                next_step="Quantize each method in Python: rushlight.quantize(), then rushlight.export().",
            )
        module, args, kwargs, *rest = arguments
        return module, args, kwargs, rest[0] if rest else None

    def batches(self, args: tuple[Any, ...], shapes: Any) -> list[tuple[Any, ...]] | None:
        """The calibration inputs; None without --calibrate. Error: InvalidArgument."""
        from rushlight.quantize.calibration import read_batches

        if self.calibrate is None:
            return None
        return read_batches(self.calibrate, args, any_size=shapes is not None)

    def quantizer(self) -> Any:
        """The quantizer for the value of --quantize."""
        from rushlight.quantize import Dynamic, RushlightQuantizer, Scheme, Static, WeightOnly

        schemes: dict[str, Scheme] = {
            "int8": Static(),
            "int16x8": Static(activations="int16"),
            "dynamic": Dynamic(),
            "int8-weights": WeightOnly(),
            "int4-weights": WeightOnly(bits=4, group_size=_GROUP),
        }
        return RushlightQuantizer(schemes[self.word or "int8"])

    def ranges_page(self) -> str:
        """The ranges of tensors as an HTML page. Error: InvalidArgument if the model was not quantized."""
        from rushlight.quantize import ranges

        if self.graph is None:
            raise InvalidArgument(
                "--ranges: expected --quantize beside it, got none", next_step="Add --quantize int8."
            )
        return ranges(self.graph).page()

    def print_report(self) -> None:
        """Prints which operators were quantized, if the model was."""
        if self.graph is not None:
            from rushlight.quantize import report

            echo(str(report(self.graph)))


def quantize_options(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--quantize and --calibrate; the command gets both as `quantizing`. If `required`, --quantize defaults
    to int8, and --calibrate must be given."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_quantizing(
            *arguments: Any, quantize: str | None, calibrate: Path | None, **others: Any
        ) -> Any:
            return command(*arguments, quantizing=Quantizing(quantize, calibrate), **others)

        word = click.option(
            "--quantize",
            type=click.Choice(WORDS),
            default="int8" if required else None,
            show_default=required,
            help="Quantize the model. int8: weights and activations; int16x8: int16 activations; dynamic: "
            "activation ranges are measured in each run; int8-weights, int4-weights: weights only.",
        )
        data = click.option(
            "--calibrate",
            metavar="DATA",
            required=required,
            type=PATH,
            help="Calibration inputs: a .npy or .npz file, a folder of those, or a Python file with batches.",
        )
        return word(data(with_quantizing))

    return decorate
