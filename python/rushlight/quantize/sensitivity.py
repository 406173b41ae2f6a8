# SPDX-License-Identifier: BSD-3-Clause
"""Measures which layers lose accuracy when quantized; renders a table and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from rushlight.page import figure, page, table
from rushlight.printable import escaped
from rushlight.quantize.quantizer import RushlightQuantizer
from rushlight.quantize.trial import Trial

_ROW, _BAR, _LABEL, _LETTERS = 22, 520, 320, 44
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class LayerSensitivity:
    """The errors of one layer. `alone`: with only this layer quantized; `without`: with all layers except
    this one."""

    name: str
    operators: tuple[str, ...]
    weight_bytes: int
    alone: float
    without: float


@dataclass(frozen=True)
class Sensitivity:
    """The `error` with all layers quantized, and the layers, most sensitive first."""

    error: float
    layers: tuple[LayerSensitivity, ...]

    def to_json(self) -> dict[str, Any]:
        """The sensitivity as JSON types."""
        return {"error": self.error, "layers": [asdict(each) for each in self.layers]}

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Name, operators, bytes of float weights, and both errors, as text."""
        return [
            (
                each.name or "the model itself",
                ", ".join(dict.fromkeys(each.operators)),
                f"{each.weight_bytes:,}",
                _error(each.alone),
                _error(each.without),
            )
            for each in self.layers
        ]

    def page(self) -> str:
        """An HTML page with a picture and a table."""
        heads = ("layer", "operators", "weight bytes", "error alone", "error without")
        told = f"<p>Error with all layers quantized: {_error(self.error)}.</p>"
        return page("Sensitivity to quantization", [told, figure(self._bars()), table(heads, self.rows())])

    def __str__(self) -> str:
        lines = [f"error with all layers quantized: {_error(self.error)}"]
        lines += [f"  {name}: alone {alone}, without {out}" for name, _, _, alone, out in self.rows()]
        return "\n".join(lines)

    def _bars(self) -> str:
        """A bar for each layer's error alone, and a mark for the error without it."""
        most = max([self.error, *(max(each.alone, each.without) for each in self.layers)]) or 1.0
        width, height = _LABEL + _BAR + 100, _ROW * (len(self.layers) + 1)
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="13">']
        all_at = _LABEL + _BAR * self.error / most
        for index, each in enumerate(self.layers):
            y, long = index * _ROW, _BAR * each.alone / most
            mark = _LABEL + _BAR * each.without / most
            parts += [
                f'<text x="{_LABEL - 8}" y="{y + 15}" text-anchor="end">{escaped(_short(each.name))}</text>',
                f'<rect x="{_LABEL}" y="{y + 3}" width="{long:.1f}" height="{_ROW - 6}" fill="#3b6ea5">'
                f"<title>{escaped(each.name)}: alone {_error(each.alone)}</title></rect>",
                f'<path d="M{mark:.1f} {y + 1}v{_ROW - 2}" stroke="#c26a00" stroke-width="2">'
                f"<title>{escaped(each.name)}: without {_error(each.without)}</title></path>",
                f'<text x="{max(_LABEL + long, mark) + 6:.1f}" y="{y + 15}">{_error(each.alone)}</text>',
            ]
        parts.append(f'<path d="M{all_at:.1f} 0v{height - _ROW}" stroke="#888" stroke-dasharray="3 3"/>')
        legend = "bar: quantized alone; mark: all but this one; dashed: all quantized"
        parts.append(f'<text x="{_LABEL}" y="{height - 6}">{legend}</text></svg>')
        return "\n".join(parts)


def sensitivity(
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    calibration: Iterable[Sequence[Any]],
    quantizer: RushlightQuantizer | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Measures each layer's share of the error on the calibration inputs. Cost: two executions of all inputs
    per layer.

    Args: as for `quantize`; `progress` is called with the layer's name and the completed share, from 0 to
    1.
    """
    batches = [tuple(each) for each in calibration]
    trial = Trial(module, example_inputs, batches, quantizer, kwargs, dynamic_shapes)
    rows = []
    for index, layer in enumerate(trial.layers.values()):
        if progress:
            progress(layer.name, index / len(trial.layers))
        alone, without = trial.error({layer.name}), trial.error(trial.layers.keys() - {layer.name})
        rows.append(LayerSensitivity(layer.name, tuple(layer.operators), layer.weight_bytes, alone, without))
    rows.sort(key=lambda row: (-row.alone, row.name))
    return Sensitivity(trial.error(trial.layers), tuple(rows))


def _error(error: float) -> str:
    """An error in percent, as text."""
    return f"{100 * error:.3g} %"


def _short(name: str) -> str:
    """A name that fits next to a bar; keeps the end, which is more specific than the beginning."""
    name = name or "the model itself"
    return name if len(name) <= _LETTERS else f"…{name[1 - _LETTERS :]}"
