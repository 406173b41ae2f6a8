# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files of the official developer tools: a bundled program, and a record of a run."""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from executorch.devtools import BundledProgram, Inspector, generate_etrecord
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer
from executorch.exir import to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch
from torch import nn

from support.interop import models
from support.interop.official import Entry, export

DEBUG_BUFFER_BYTES = 1_000_000


def write_bundled(folder: Path) -> None:
    """A bundled program of three calls, and its program apart."""
    module = models.mlp(16, 32, 8).eval()
    calls = [(torch.randn(4, 16),) for _ in range(3)]
    program = to_edge(export(Entry(module, calls))).to_executorch()
    with torch.no_grad():
        cases = [MethodTestCase(inputs=call, expected_outputs=(module(*call),)) for call in calls]
    bundled = BundledProgram(program, [MethodTestSuite("forward", cases)])
    (folder / "model.bpte").write_bytes(serialize_from_bundled_program_to_flatbuffer(bundled))
    (folder / "model.pte").write_bytes(program.buffer)


def write_events(folder: Path) -> None:
    """A program, the record of its export, and of one run: times, all intermediate tensors, the table
    that the official Inspector makes of them."""
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3)).eval()
    image = torch.randn(1, 3, 16, 16)
    edge = to_edge(export(Entry(module, [(image,)])))
    program = copy.deepcopy(edge).to_executorch()
    model, record, events, buffer = (
        str(folder / name) for name in ("model.pte", "etrecord.bin", "etdump.etdp", "debug.bin")
    )
    Path(model).write_bytes(program.buffer)
    generate_etrecord(record, edge, program)
    loaded = _load_for_executorch(model, enable_etdump=True, debug_buffer_size=DEBUG_BUFFER_BYTES)
    loaded.run_method("forward", (image,))
    loaded.write_etdump_result_to_file(events, buffer)
    inspector = Inspector(etdump_path=events, etrecord=record, debug_buffer_path=buffer)
    inspector.to_dataframe().to_csv(folder / "inspector.csv")
