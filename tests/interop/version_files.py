# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of one version of the official package into a folder: `version_files.py OUT`, in an
environment that make_versions.py sets up."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import executorch.devtools.etdump as etdump_package
import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer
from executorch.exir import ExecutorchBackendConfig, ExecutorchProgramManager, to_edge
from executorch.exir._serialize._flatbuffer import _run_flatc

from support.interop.models import EveryKind, arange_calls
from support.interop.of_versions import BUNDLED_CALLS, CONSTANTS, EVENTS


def export(**settings: bool) -> ExecutorchProgramManager:
    """The network as a program."""
    exported = torch.export.export(EveryKind().eval(), arange_calls()[0])
    edge = to_edge({"forward": exported}, constant_methods=CONSTANTS)
    return edge.to_executorch(ExecutorchBackendConfig(**settings))


def write_external(folder: Path) -> None:
    """The program without its constants, which are a file beside it."""
    program = export(external_constants=True)
    (folder / "external.pte").write_bytes(program.buffer)
    program.write_tensor_data_to_file(str(folder))
    (written,) = folder.glob("*.ptd")
    written.rename(folder / "weights.ptd")


def write_bundled(folder: Path, program: ExecutorchProgramManager) -> None:
    """Writes the program with bundled calls: each one starts from a new method, whose state is new."""
    with torch.no_grad():
        cases = [
            MethodTestCase(inputs=call, expected_outputs=EveryKind().eval()(*call))
            for call in arange_calls()[:BUNDLED_CALLS]
        ]
    bundled = BundledProgram(program, [MethodTestSuite("forward", cases)])
    (folder / "model.bpte").write_bytes(serialize_from_bundled_program_to_flatbuffer(bundled))


def write_events(folder: Path) -> None:
    """A record of events: the package's schema and its flatc write what the runtime writes."""
    events = [
        {
            "profile_event": {
                "name": name,
                "chain_index": chain,
                "instruction_id": instruction,
                "delegate_debug_id_int": -1,
                "start_time": start,
                "end_time": end,
            }
        }
        for name, chain, instruction, start, end in EVENTS
    ]
    content = {"version": 0, "run_data": [{"name": "Execute", "events": events}]}
    with tempfile.TemporaryDirectory() as temporary:
        schemas = Path(etdump_package.__path__[0])
        for name in ("etdump_schema_flatcc.fbs", "scalar_type.fbs"):
            (Path(temporary) / name).write_bytes((schemas / name).read_bytes())
        source = Path(temporary) / "events.json"
        source.write_text(json.dumps(content))
        schema = str(Path(temporary) / "etdump_schema_flatcc.fbs")
        _run_flatc(["--binary", "--size-prefixed", "-o", temporary, schema, str(source)])
        (folder / "events.etdp").write_bytes((Path(temporary) / "events.etdp").read_bytes())


def main() -> None:
    """Write all files."""
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    program = export()
    (folder / "model.pte").write_bytes(program.buffer)
    write_external(folder)
    write_bundled(folder, program)
    write_events(folder)


if __name__ == "__main__":
    main()
