# SPDX-License-Identifier: BSD-3-Clause
"""A model's weights by their role in the model, independent of the file format.

A role is "embedding", "output", "norm", or a part of a layer such as "query". Every tensor of a file must
be used: an unused one means that the file's model has a part that ours lacks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.llm.blocks import Array, BlockMatrix
from rushlight.llm.config import ModelConfig
from rushlight.llm.metadata import SpecialTokens
from rushlight.printable import one_line


@dataclass(frozen=True)
class FloatMatrix:
    """A matrix of floats of `dtype`; `read(start, stop)` returns rows of it."""

    dtype: str
    features: int
    depth: int
    read: Callable[[int, int], Array] = field(repr=False)

    def floats(self, start: int, stop: int) -> Array:
        """Rows in float32."""
        return self.read(start, stop).astype(np.float32)


Matrix = FloatMatrix | BlockMatrix


@dataclass(frozen=True)
class Weight:
    """The role of a weight in a model; `layer` is None for weights outside of the layers."""

    part: str
    layer: int | None = None
    suffix: str = "weight"


class WeightSource(ABC):
    """The weights of one model. Subclasses read the file formats."""

    default_weights = "keep"
    """The default storage format of matrices."""

    def __init__(self, shown: str, names: dict[str, str], config: ModelConfig) -> None:
        self.shown, self._names, self.config = shown, names, config
        self.parameters = 0
        self._used: set[str] = set()

    @abstractmethod
    def special_tokens(self) -> SpecialTokens:
        """The tokens that begin and end texts."""

    @abstractmethod
    def vocabulary(self) -> bytes | None:
        """The compiled tokenizer; None if there is none. Errors: InvalidArgument."""

    @abstractmethod
    def chat_template(self) -> bytes | None:
        """The compiled chat template; None if there is none. Errors: InvalidArgument."""

    @abstractmethod
    def sizes(self, name: str) -> tuple[int, ...] | None:
        """The sizes of the tensor with this name; None if there is none."""

    @abstractmethod
    def tensor_names(self) -> Iterable[str]:
        """The names of all tensors, except tensors that no model needs."""

    @abstractmethod
    def open_matrix(self, name: str) -> Matrix:
        """The matrix with this name, which must exist."""

    @abstractmethod
    def read_vector(self, name: str) -> Array:
        """The values with this name, which must exist, in float32."""

    def name(self, weight: Weight) -> str:
        """The name of a weight in the file."""
        pattern = self._names[weight.part]
        return f"{pattern.format(weight.layer)}.{weight.suffix}"

    def matrix(self, part: str, layer: int | None, features: int, depth: int) -> Matrix:
        """The matrix of a part. Errors: InvalidArgument if it is missing or has other sizes."""
        return self.open_matrix(self._checked(Weight(part, layer), (features, depth)))

    def vector(self, part: str, layer: int | None, size: int, suffix: str = "weight") -> Array:
        """The values of a part. Errors: InvalidArgument if they are missing or have another count."""
        found = self.read_vector(self._checked(Weight(part, layer, suffix), (size,)))
        return np.ascontiguousarray(found, np.float32)

    def bias(self, part: str, layer: int | None, size: int, *, required: bool = False) -> Array | None:
        """The bias of a part; None if it is missing and not required."""
        if not required and self.sizes(self.name(Weight(part, layer, "bias"))) is None:
            return None
        return self.vector(part, layer, size, "bias")

    def check_all_used(self) -> None:
        """Errors: InvalidArgument for a tensor that was never requested."""
        left = sorted(set(self.tensor_names()) - self._used)
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            raise InvalidArgument(
                f"{self.shown}: tensor '{one_line(left[0])}'{more}: expected tensors of the family "
                f"{self.config.family}, which has no such part",
                next_step="Export a model of a family that rushlight knows.",
            )

    def _checked(self, weight: Weight, expected: tuple[int, ...]) -> str:
        name = self.name(weight)
        found = self.sizes(name)
        if found != expected:
            got = "no such tensor" if found is None else f"sizes {list(found)}"
            raise InvalidArgument(
                f"{self.shown}: tensor '{one_line(name)}': expected sizes {list(expected)}, got {got}"
            )
        if name not in self._used:
            self.parameters += math.prod(expected)
        self._used.add(name)
        return name
