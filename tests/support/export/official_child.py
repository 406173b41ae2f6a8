# SPDX-License-Identifier: BSD-3-Clause
"""Functions that run in the process of the official runtime."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def prepare() -> None:
    """Silences the messages of the packages that it loads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def run(
    data: bytes,
    calls: Sequence[Sequence[Any]],
    orders: Sequence[Sequence[int]],
    method: str,
    data_file: Path | None = None,
) -> list[list[Any]]:
    """The outputs of each call on one loaded method, as numpy arrays. `orders` are the inputs' dimensions
    from outermost to innermost in memory, empty for scalars; inputs are row-major."""
    import torch

    torch.set_num_threads(1)
    with contextlib.ExitStack() as files:
        path = Path(files.enter_context(tempfile.TemporaryDirectory())) / "model.pte"
        path.write_bytes(data)
        program = _runtime().load_program(path, data_path=data_file)
        loaded = program.load_method(method)
        results = []
        for call in calls:
            inputs = [_tensor(torch, value, order) for value, order in zip(call, orders, strict=True)]
            results.append([_array(torch, value) for value in loaded.execute(inputs)])
    return results


def _runtime() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from executorch.runtime import Runtime
    return Runtime.get()


def _tensor(torch: Any, value: Any, order: Sequence[int]) -> Any:
    """An array as a tensor that is dense in the dim order."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name == "bfloat16":
        tensor = torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(value)
    if not value.ndim:
        return tensor
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return tensor.permute(*order).contiguous().permute(*inverse)


def _array(torch: Any, value: Any) -> Any:
    """A copy: the runtime owns the memory of its outputs."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype == torch.bfloat16:
        import ml_dtypes

        return value.contiguous().view(torch.int16).numpy().copy().view(ml_dtypes.bfloat16)
    return value.contiguous().numpy().copy()
