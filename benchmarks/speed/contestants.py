# SPDX-License-Identifier: BSD-3-Clause
"""Contestants behind one interface: each loads files that `making` wrote, runs and returns outputs.

Runs in the workers, so that each package is imported only where it competes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np


def read_arrays(path: Path) -> list[np.ndarray]:
    """The arrays of an .npz, in the order in which they were saved."""
    with np.load(path) as arrays:
        return [arrays[name] for name in arrays.files]


class Contestant(Protocol):
    """`files` are the files of a subject's folder that it loads (one of them suffices), `peer` is true for
    packages other than rushlight, `computes` is true if its outputs are to be compared."""

    files: ClassVar[tuple[str, ...]]
    peer: ClassVar[bool]
    computes: ClassVar[bool]

    @staticmethod
    def version() -> str:
        """Imports the package and returns its version. Error: ImportError if the package is missing."""

    def __init__(self, folder: Path, threads: int, spins: bool) -> None:
        """Loads the model until only inputs are missing. With `spins` idle threads may spin."""

    def run(self, inputs: Any) -> Any:
        """One inference on inputs that `adapted` returned."""

    def adapted(self, inputs: list[np.ndarray]) -> Any:
        """Converts inputs to the form that costs least in each call."""

    def arrays(self, outputs: Any) -> list[np.ndarray]:
        """The outputs of `run` as arrays."""


class Rushlight:
    """rushlight on a program of rushlight.export; inputs and outputs are not copied."""

    files = ("rushlight.pte",)
    peer = False
    computes = True
    lanes: ClassVar[int | None] = None  # the most calls at once; None for one per thread

    @staticmethod
    def version() -> str:
        import rushlight
        from rushlight.runtime import native

        native.default_module()  # like the peers' modules, so that loading covers only programs
        return str(rushlight.__version__)

    def __init__(self, folder: Path, threads: int, spins: bool) -> None:
        import rushlight

        program = rushlight.load(folder / self.files[0], threads=threads, lanes=self.lanes)
        self.method = program.load_method("forward")

    def adapted(self, inputs: list[np.ndarray]) -> Any:
        return inputs

    def run(self, inputs: Any) -> Any:
        return self.method.execute(inputs, outputs="view")

    def arrays(self, outputs: Any) -> list[np.ndarray]:
        return [np.array(each) for each in outputs]


class RushlightInOrder(Rushlight):
    """rushlight with one call at a time, whose kernels use all threads."""

    lanes = 1


class RushlightOnOfficial(Rushlight):
    """rushlight on the undelegated program of the official exporter."""

    files = ("official.pte",)


class RushlightOnLowered(Rushlight):
    """rushlight on the program that the official exporter lowered to XNNPACK."""

    files = ("xnnpack.pte",)


class RushlightOnLoweredInOrder(RushlightOnLowered):
    """The same with one call at a time."""

    lanes = 1


class OnnxRuntime:
    """ONNX Runtime with all optimizations, on the faster of two models: from torch's newer exporter, or from
    the older one, which maps more modules to single ONNX operators."""

    files = ("model.onnx", "script.onnx")
    peer = True
    computes = True
    in_parallel: ClassVar[bool] = False

    @staticmethod
    def version() -> str:
        import onnxruntime

        return str(onnxruntime.__version__)

    def __init__(self, folder: Path, threads: int, spins: bool) -> None:
        chosen = folder / "faster.onnx.txt"  # so that a measurement of loading covers one model
        if not chosen.is_file():
            paths = [folder / name for name in self.files if (folder / name).is_file()]
            inputs = read_arrays(folder / "inputs.npz")
            seconds = {
                path.name: self._seconds(self._session(path, threads, spins), inputs) for path in paths
            }
            chosen.write_text(min(seconds, key=lambda name: seconds[name]))
        self.session = self._session(folder / chosen.read_text(), threads, spins)

    @classmethod
    def of(cls, model: Path, threads: int, spins: bool) -> OnnxRuntime:
        """On one model, rather than the faster one of a folder."""
        made = cls.__new__(cls)
        made.session = cls._session(model, threads, spins)
        return made

    @classmethod
    def _session(cls, path: Path, threads: int, spins: bool) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        if cls.in_parallel:
            options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
            options.inter_op_num_threads = threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spins)))
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    @staticmethod
    def _seconds(session: Any, inputs: list[np.ndarray]) -> float:
        feed = {item.name: array for item, array in zip(session.get_inputs(), inputs, strict=True)}
        times = []
        for _ in range(10):
            start = time.process_time()
            session.run(None, feed)
            times.append(time.process_time() - start)
        return min(times)

    def adapted(self, inputs: list[np.ndarray]) -> Any:
        """Binds inputs and outputs, so that nothing is copied."""
        import onnxruntime

        binding = self.session.io_binding()
        self.inputs = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in inputs]
        for item, value in zip(self.session.get_inputs(), self.inputs, strict=True):
            binding.bind_ortvalue_input(item.name, value)
        for item in self.session.get_outputs():
            binding.bind_output(item.name)
        self.session.run_with_iobinding(binding)
        for item, value in zip(self.session.get_outputs(), binding.get_outputs(), strict=True):
            binding.bind_ortvalue_output(item.name, value)
        return binding

    def run(self, inputs: Any) -> Any:
        self.session.run_with_iobinding(inputs)
        return inputs

    def arrays(self, outputs: Any) -> list[np.ndarray]:
        return [np.array(each) for each in outputs.copy_outputs_to_cpu()]


class OnnxRuntimeInParallel(OnnxRuntime):
    """ONNX Runtime's parallel mode: as many operators at once as there are threads."""

    in_parallel = True


class TorchEager:
    """The module in PyTorch's inference mode; for int8, PyTorch's own quantization of it."""

    files = ("subject.json",)
    peer = True
    computes = True

    @staticmethod
    def version() -> str:
        import torch

        return str(torch.__version__)

    def __init__(self, folder: Path, threads: int, spins: bool) -> None:
        import torch
        from networks import make
        from quantized import in_torch
        from subjects import INT8, SUBJECTS

        torch.set_num_threads(threads)
        name = json.loads((folder / "subject.json").read_text())["name"]
        made = make(SUBJECTS[name])
        self.module = in_torch(made) if name in INT8 else made[0]

    def adapted(self, inputs: list[np.ndarray]) -> Any:
        import torch

        return [torch.from_numpy(array) for array in inputs]

    def run(self, inputs: Any) -> Any:
        import torch

        with torch.inference_mode():
            return self.module(*inputs)

    def arrays(self, outputs: Any) -> list[np.ndarray]:
        return [each.numpy() for each in (outputs if isinstance(outputs, tuple) else (outputs,))]


class ExecuTorch:
    """The official runtime on the program without delegate."""

    files = ("official.pte",)
    peer = True
    computes = True

    @staticmethod
    def version() -> str:
        import importlib.metadata

        import executorch.extension.pybindings.portable_lib
        import executorch.kernels.quantized  # noqa: F401  # operators of programs in int8

        return importlib.metadata.version("executorch")

    def __init__(self, folder: Path, threads: int, spins: bool) -> None:
        from executorch.extension.pybindings import portable_lib

        portable_lib._unsafe_reset_threadpool(threads)
        self.program = portable_lib._load_program(str(folder / self.files[0]))
        self.method = self.program.load_method("forward")

    def adapted(self, inputs: list[np.ndarray]) -> Any:
        import torch

        return [torch.from_numpy(array) for array in inputs]

    def run(self, inputs: Any) -> Any:
        return self.method(inputs, clone_outputs=False)

    def arrays(self, outputs: Any) -> list[np.ndarray]:
        return [each.numpy() for each in outputs]


class ExecuTorchXnnpack(ExecuTorch):
    """The official runtime with the XNNPACK delegate, if that accepts any part of the subject."""

    files = ("xnnpack.pte",)


class Copy:
    """memcpy of half the bytes: as many bytes are read and written as by the subject."""

    files = ("subject.json",)
    peer = False
    computes = False

    @staticmethod
    def version() -> str:
        return f"numpy {np.__version__}"

    def __init__(self, folder: Path, threads: int, spins: bool) -> None:
        count = json.loads((folder / "subject.json").read_text())["bytes"] // 8
        self.source, self.destination = np.ones(count, np.float32), np.zeros(count, np.float32)

    def adapted(self, inputs: list[np.ndarray]) -> Any:
        return None

    def run(self, inputs: Any) -> Any:
        np.copyto(self.destination, self.source)

    def arrays(self, outputs: Any) -> Sequence[np.ndarray]:
        return []


CONTESTANTS: dict[str, type[Any]] = {
    "rushlight": Rushlight,
    "rushlight, in order": RushlightInOrder,
    "rushlight, official program": RushlightOnOfficial,
    "rushlight, lowered program": RushlightOnLowered,
    "rushlight, lowered, in order": RushlightOnLoweredInOrder,
    "ONNX Runtime": OnnxRuntime,
    "ONNX Runtime, parallel": OnnxRuntimeInParallel,
    "torch eager": TorchEager,
    "ExecuTorch XNNPACK": ExecuTorchXnnpack,
    "ExecuTorch": ExecuTorch,
    "copy": Copy,
}
FOR_THREADS = {"rushlight, in order", "rushlight, lowered, in order", "ONNX Runtime, parallel"}
"""Contestants that do the same as another one if there is a single thread."""
