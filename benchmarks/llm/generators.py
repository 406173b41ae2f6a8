# SPDX-License-Identifier: BSD-3-Clause
"""Runtimes of the language model behind one interface. Runs in a separate process for each, so that each
package is imported only where it competes and memory is measured separately:

    python benchmarks/llm/generators.py NAME MODEL THREADS       # prints a round's results as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

PROMPT, SHORT_PROMPT, ANSWER = 512, 32, 128
"""Tokens of the timed prompt, of the prompt before an answer, and of the answer."""


class Contestant(Protocol):
    """A loaded model. `wants` names the prepared model that it loads."""

    wants: ClassVar[str]

    def __init__(self, model: Path, threads: int) -> None:
        """Loads the model."""

    def version(self) -> str:
        """The package's version and the features that determine its speed."""

    def restart(self) -> None:
        """Clears the token history."""

    def next(self, tokens: Sequence[int]) -> int:
        """Appends tokens to the history; returns the likeliest next token."""


class Rushlight:
    """rushlight on a program of `rushlight export llm`, by plain steps of its C++ generator."""

    wants = "rushlight"

    def __init__(self, model: Path, threads: int) -> None:
        import numpy as np

        import rushlight

        self._np = np
        self._program = rushlight.load(model, threads=threads)
        self._forward = self._program.load_method("forward")
        [most] = self._program.load_method("get_max_seq_len").execute([])
        self._most, self._seen = int(most), 0

    def version(self) -> str:
        import rushlight

        return f"rushlight {rushlight.__version__} ({os.environ.get('RUSHLIGHT_CPU', 'best variant')})"

    def restart(self) -> None:
        self._seen = 0

    def next(self, tokens: Sequence[int]) -> int:
        np = self._np
        for begin in range(0, len(tokens), self._most):
            part = np.array([tokens[begin : begin + self._most]], np.int64)
            [logits] = self._forward.execute([part, np.array([self._seen], np.int64)], outputs="view")
            self._seen += part.size
        return int(logits.argmax())


class LlamaCpp:
    """llama.cpp on the GGUF file itself, by llama-cpp-python's low-level calls."""

    wants = "gguf"

    def __init__(self, model: Path, threads: int) -> None:
        import llama_cpp
        import numpy as np

        self._package, self._np = llama_cpp, np
        self._model = llama_cpp.Llama(
            str(model), n_ctx=2048, n_threads=threads, n_threads_batch=threads, n_batch=512, verbose=False
        )

    def version(self) -> str:
        flags = self._package.llama_print_system_info().decode()
        has = [
            part.split(" = ")[0].strip() for part in flags.replace("CPU :", "").split("|") if " = 1" in part
        ]
        return f"llama-cpp-python {self._package.__version__} ({' '.join(has)})"

    def restart(self) -> None:
        self._model.reset()

    def next(self, tokens: Sequence[int]) -> int:
        self._model.eval(list(tokens))
        logits = self._package.llama_get_logits_ith(self._model.ctx, -1)
        return int(self._np.ctypeslib.as_array(logits, (self._model.n_vocab(),)).argmax())


class OnnxGenAi:
    """ONNX Runtime GenAI on a folder of its model builder."""

    wants = "genai"

    def __init__(self, model: Path, threads: int) -> None:
        import onnxruntime_genai

        self._package = onnxruntime_genai
        settings = json.loads((model / "genai_config.json").read_text())
        options = settings["model"]["decoder"]["session_options"]
        options.update(intra_op_num_threads=threads, inter_op_num_threads=1)
        (model / "genai_config.json").write_text(json.dumps(settings))
        self._model = onnxruntime_genai.Model(str(model))
        self.restart()

    def version(self) -> str:
        return f"onnxruntime-genai {self._package.__version__}"

    def restart(self) -> None:
        options = self._package.GeneratorParams(self._model)
        options.set_search_options(max_length=2048, do_sample=False)
        self._generator = self._package.Generator(self._model, options)

    def next(self, tokens: Sequence[int]) -> int:
        self._generator.append_tokens(list(tokens))
        return int(self._generator.get_logits()[0, -1].argmax())


class Official:
    """The official runtime on a program of the official exporter, lowered to XNNPACK."""

    wants = "executorch"

    def __init__(self, model: Path, threads: int) -> None:
        import torch
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  # registers kernels
        from executorch.extension.pybindings import portable_lib
        from executorch.kernels import quantized  # noqa: F401  # more of them

        self._torch = torch
        self._module = portable_lib._load_for_executorch(str(model))
        self._seen = 0

    def version(self) -> str:
        from importlib.metadata import version

        return f"executorch {version('executorch')}, XNNPACK"

    def restart(self) -> None:
        self._seen = 0

    def next(self, tokens: Sequence[int]) -> int:
        torch = self._torch
        position = torch.tensor([self._seen], dtype=torch.int64)
        [logits] = self._module.forward([torch.tensor([list(tokens)], dtype=torch.int64), position])
        self._seen += len(tokens)
        return int(logits.reshape(-1, logits.shape[-1])[-1].argmax())


CONTESTANTS: dict[str, type[Contestant]] = {
    "rushlight": Rushlight,
    "llama.cpp": LlamaCpp,
    "onnxruntime-genai": OnnxGenAi,
    "executorch": Official,
}


def peak_memory() -> int:
    """The peak memory of this process in bytes; getrusage() would include the parent's before exec."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) * 1024


def a_round(name: str, model: Path, threads: int) -> dict[str, Any]:
    """Loads a model and times a prompt and an answer."""
    start = time.perf_counter()
    contestant = CONTESTANTS[name](model, threads)
    loaded = time.perf_counter()
    prompt = [7 * i % 40000 + 100 for i in range(PROMPT)]
    token = contestant.next(prompt[:SHORT_PROMPT])
    first = time.perf_counter()
    answer = [token]
    for _ in range(ANSWER):
        answer.append(contestant.next(answer[-1:]))
    answered = time.perf_counter()
    times = []
    for _ in range(2):
        contestant.restart()
        begin = time.perf_counter()
        contestant.next(prompt)
        times.append(time.perf_counter() - begin)
    return {
        "version": contestant.version(),
        "load": loaded - start,
        "first": first - start,
        "decode": ANSWER / (answered - first),
        "prefill": PROMPT / min(times),
        "answer": answer,
        "peak": peak_memory(),
    }


if __name__ == "__main__":
    print(json.dumps(a_round(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
