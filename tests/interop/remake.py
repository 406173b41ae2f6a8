# SPDX-License-Identifier: BSD-3-Clause
"""Make programs of this folder again with the official package, into another folder.

    pip install torch==2.13.0 executorch==1.5.1 numpy
    python tests/interop/remake.py OUT [CASE...]

Each case is made like the one here: the same operators on the same shapes, other weights and inputs.
With rushlight on the path (PYTHONPATH=python) each program is compared with the one here, and the exit
code is 1 if operators, inputs or outputs differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge, to_edge_transform_and_lower
from models import CASES, Case, Inputs

HERE = Path(__file__).parent
MADE_WITH = "executorch 1.5.1, torch 2.13.0"
XNNPACK_NOTE = "model.pte has no delegate; model_xnnpack.pte is the same network lowered to XnnpackBackend"


def make(name: str, out: Path) -> None:
    """Write the case's folder: programs, tensors.npz and case.json."""
    torch.manual_seed(0)
    case = CASES[name]()
    case.module.eval()
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    exported = torch.export.export(case.module, case.calls[0], dynamic_shapes=_shapes(case), strict=False)
    (folder / "model.pte").write_bytes(to_edge(exported).to_executorch().buffer)
    files = ["model.pte"]
    if case.xnnpack:
        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        (folder / "model_xnnpack.pte").write_bytes(lowered.to_executorch().buffer)
        files.append("model_xnnpack.pte")
    arrays: dict[str, np.ndarray] = {}
    calls = [_call(case, index, arrays) for index in range(len(case.calls))]
    description = {
        "name": name,
        "made_with": MADE_WITH,
        "expected_from": "PyTorch eager",
        "tolerance": case.tolerance,
        "note": XNNPACK_NOTE if case.xnnpack else "",
        "files": files,
        "methods": {"forward": calls},
    }
    (folder / "case.json").write_text(json.dumps(description, indent=1) + "\n")
    np.savez_compressed(folder / "tensors.npz", **arrays)


def _shapes(case: Case) -> Any:
    return None if case.dynamic_shapes is None else tuple(case.dynamic_shapes.values())


def _call(case: Case, index: int, arrays: dict[str, np.ndarray]) -> dict[str, list[dict[str, Any]]]:
    """One call as case.json has it; its tensors go into `arrays`."""
    inputs = case.calls[index]
    with torch.no_grad():
        result = case.module(*inputs)
    outputs: Inputs = result if isinstance(result, tuple) else (result,)
    return {
        "inputs": [_store(f"forward.{index}.input{i}", t, arrays) for i, t in enumerate(inputs)],
        "outputs": [_store(f"forward.{index}.output{i}", t, arrays) for i, t in enumerate(outputs)],
    }


def _store(key: str, tensor: torch.Tensor, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    bits = tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor
    arrays[key] = bits.contiguous().numpy()
    return {"key": key, "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}


def differences(name: str, out: Path) -> list[str]:
    """What of operators, inputs and outputs is not as in the programs here."""
    from rushlight.program import describe, read_program

    found: list[str] = []
    for path in sorted((out / name).glob("*.pte")):
        new, old = (describe(read_program(folder / name / path.name))["methods"][0] for folder in (out, HERE))
        keys = ("inputs", "outputs", "operators", "delegates")
        if path.name == "model_xnnpack.pte":  # its payload depends on the weights' bytes
            keys = ("inputs", "outputs", "operators")
        found += [f"{name}/{path.name}: {key} differ" for key in keys if new[key] != old[key]]
    return found


def main() -> int:
    """Make the named cases, or all."""
    parser = argparse.ArgumentParser(description="Make interop programs with the official package.")
    parser.add_argument("out", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args()
    found: list[str] = []
    for name in options.cases or CASES:
        make(name, options.out)
        found += differences(name, options.out)
    print("\n".join(found) or "all as they were")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
