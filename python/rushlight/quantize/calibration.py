# SPDX-License-Identifier: BSD-3-Clause
"""Reads calibration inputs from files: .npy, .npz, folders of them, and Python files."""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from rushlight.errors import InvalidArgument

_ARRAYS = (".npy", ".npz")
Batch = tuple[Any, ...]


def read_batches(path: Path, example_inputs: Sequence[Any], *, any_size: bool = False) -> list[Batch]:
    """Reads the inputs in a file as tuples of tensors.

    Args:
        path: a .npy file for a model with one input; a .npz file with one array per input, in order; a
            folder of such files; or a Python file in which `batches` is an iterable of tuples or a
            function that returns one. An array holds one input, or several along its first dimension or
            along an additional first dimension.
        example_inputs: dtypes and sizes have to match these.
        any_size: sizes may differ from the example inputs' sizes.

    Errors: InvalidArgument naming the file and the input that does not match.
    """
    reader = _Reader(tuple(example_inputs), any_size)
    batches = list(reader.batches(path))
    if not batches:
        raise InvalidArgument(f"{path}: expected calibration inputs, got none")
    return batches


class _Reader:
    """Reads inputs and checks them against the examples."""

    def __init__(self, examples: Batch, any_size: bool) -> None:
        self.examples, self.any_size = examples, any_size

    def batches(self, path: Path) -> Iterator[Batch]:
        """All inputs at a path."""
        if path.is_dir():
            files = sorted(each for each in path.iterdir() if each.suffix in _ARRAYS)
            if not files:
                raise InvalidArgument(f"{path}: expected .npy or .npz files in the folder, got none")
            for each in files:
                yield from self._of_arrays(each, _load(each))
        elif path.suffix == ".py":
            yield from self._of_python(path)
        elif path.suffix in _ARRAYS:
            yield from self._of_arrays(path, _load(path))
        else:
            raise InvalidArgument(f"{path}: expected a folder, a .npy, .npz or .py file, got '{path.suffix}'")

    def _of_arrays(self, path: Path, arrays: dict[str, np.ndarray]) -> Iterator[Batch]:
        if len(arrays) != len(self.examples):
            expected = f"{len(self.examples)} arrays, one for each input"
            raise InvalidArgument(f"{path}: expected {expected}, got {len(arrays)} ({', '.join(arrays)})")
        columns = [
            self._split(f"{path}: {name}", array, position)
            for position, (name, array) in enumerate(arrays.items())
        ]
        counts = sorted({len(column) for column in columns})
        if len(counts) > 1:
            raise InvalidArgument(f"{path}: expected the same number of each input, got {counts}")
        yield from zip(*columns, strict=True)

    def _split(self, what: str, array: np.ndarray, position: int) -> list[torch.Tensor]:
        """Splits an array into single inputs."""
        example = self._example(what, position)
        if str(example.dtype) != f"torch.{array.dtype}":
            raise InvalidArgument(f"{what}: expected {str(example.dtype)[6:]}, got {array.dtype}")
        tensor, shape = torch.from_numpy(np.ascontiguousarray(array)), tuple(example.shape)
        self._check_finite(what, tensor)
        if tensor.dim() == len(shape) + 1 and (self.any_size or tuple(tensor.shape[1:]) == shape):
            return list(tensor)
        if tensor.dim() == len(shape) and self.any_size:
            return [tensor]
        fits = bool(shape) and tuple(tensor.shape[1:]) == shape[1:] and tensor.dim() == len(shape)
        if not fits or shape[0] == 0 or len(tensor) % shape[0]:
            expected = f"{list(shape)}, or several along the first dimension"
            raise InvalidArgument(f"{what}: expected {expected}, got {list(array.shape)}")
        return list(tensor.split(shape[0])) if len(tensor) else []

    def _of_python(self, path: Path) -> Iterator[Batch]:
        given = _run(path)
        for number, inputs in enumerate(given() if callable(given) else given):
            batch = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
            if len(batch) != len(self.examples):
                raise InvalidArgument(
                    f"{path}: batch {number}: expected {len(self.examples)} inputs, got {len(batch)}"
                )
            for position, (leaf, example) in enumerate(zip(batch, self.examples, strict=True)):
                if isinstance(example, torch.Tensor):
                    self._check_tensor(f"{path}: batch {number}: input {position}", leaf, example)
            yield tuple(batch)

    def _check_tensor(self, what: str, given: Any, example: torch.Tensor) -> None:
        if not isinstance(given, torch.Tensor):
            raise InvalidArgument(f"{what}: expected a tensor, got {type(given).__name__}")
        sizes = tuple(given.shape) == tuple(example.shape)
        if given.dtype != example.dtype or not (sizes or self.any_size):
            raise InvalidArgument(
                f"{what}: expected {str(example.dtype)[6:]} {list(example.shape)}, "
                f"got {str(given.dtype)[6:]} {list(given.shape)}"
            )
        self._check_finite(what, given)

    def _check_finite(self, what: str, given: torch.Tensor) -> None:
        if given.is_floating_point() and not bool(given.isfinite().all()):
            raise InvalidArgument(f"{what}: expected finite numbers, got NaN or infinity")

    def _example(self, what: str, position: int) -> torch.Tensor:
        example = self.examples[position]
        if not isinstance(example, torch.Tensor):
            raise InvalidArgument(
                f"{what}: expected a tensor as input {position} of the model, got {type(example).__name__}",
                next_step="Use a Python file with `batches`.",
            )
        return example


def _load(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name. Executes nothing: pickles are refused."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.name: loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, BadZipFile, KeyError) as error:
        raise InvalidArgument(
            f"{path}: expected an array file of numpy, got a damaged one: {error}"
        ) from error


def _run(path: Path) -> Any:
    """The value of `batches` in a Python file. Executes the file."""
    found = runpy.run_path(str(path)).get("batches")
    if found is None or not (callable(found) or hasattr(found, "__iter__")):
        raise InvalidArgument(f"{path}: expected `batches`, an iterable of input tuples, got {found!r}")
    return found
