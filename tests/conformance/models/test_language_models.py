# SPDX-License-Identifier: BSD-3-Clause
"""SmolLM2 with 135 million parameters, exported from its GGUF file: tokens and perplexity equal those in
transformers with the file's weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.real_models import wheels

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")

import rushlight  # noqa: E402
from rushlight.llm import Tokenizer, export  # noqa: E402
from rushlight.llm.vocabulary import KEY  # noqa: E402
from rushlight.program import read_program  # noqa: E402
from support.gguf_models import load_llama  # noqa: E402
from support.llm_programs import OfficialProgram  # noqa: E402

pytestmark = [pytest.mark.models, pytest.mark.slow]

PROMPTS = [
    "The capital of France is",
    "def fibonacci(n):\n",
    "<|im_start|>user\nWhat is gravity?<|im_end|>\n<|im_start|>assistant\n",
    "Once upon a time, in a small village by the sea,",
    "1, 2, 3, 5, 8, 13,",
]
TEXT = """The lighthouse keeper climbed the stairs each evening to light the lamp. Ships far out at sea
could see it turn, and their captains knew where the rocks were. One winter the oil ran out, and
he burned his own furniture, chair by chair, until the supply boat came. In spring the owners of
the ships sent him a new table, made of oak, and a letter in which each of them had written one
sentence of thanks. He put the letter in a drawer and went up to clean the glass."""
NEW_TOKENS = 256


@pytest.fixture(scope="module")
def path() -> Path:
    if missing := wheels.missing("smollm2"):
        pytest.skip(missing)
    return wheels.paths("smollm2")[0]


@pytest.fixture(scope="module")
def reference(path: Path) -> Iterator[Any]:
    with torch.no_grad():
        yield load_llama(path)


class Ours:
    """The exported program with its cache."""

    def __init__(self, file: Path) -> None:
        named = dict(read_program(file).named_data)
        self.tokenizer = Tokenizer(bytes(read_program(file).segment(named[KEY])))
        self._program = rushlight.load(file)

    def logits(self, tokens: list[int], at: int) -> np.ndarray:
        (logits,) = self._program.forward(np.array([tokens], np.int64), np.array([at], np.int64))
        return np.array(logits)[0]

    def goes_on(self, prompt: list[int], count: int) -> list[int]:
        said, logits = [], self.logits(prompt, 0)
        for at in range(len(prompt), len(prompt) + count):
            said.append(int(logits.argmax()))
            logits = self.logits([said[-1]], at)
        return said


@pytest.fixture(scope="module")
def ours(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Ours:
    program = export(path, context=512)
    assert program.report.seconds < 30
    assert program.report.file_bytes < 1.1 * path.stat().st_size
    return Ours(program.save(tmp_path_factory.mktemp("smollm2") / "m.pte"))


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_tokens_are_those_of_the_same_numbers(ours: Ours, reference: Any, prompt: str) -> None:
    tokens = ours.tokenizer.encode(prompt, parse_special=True)
    said = ours.goes_on(list(tokens), NEW_TOKENS)
    with torch.no_grad():  # one pass over all: each token is the greedy successor of the tokens before it
        scores = reference(torch.tensor([[*tokens, *said[:-1]]])).logits[0]
    assert said == scores[len(tokens) - 1 :].argmax(-1).tolist()


def test_the_perplexity_is_that_of_the_same_numbers(ours: Ours, reference: Any) -> None:
    tokens = list(ours.tokenizer.encode(TEXT))
    with torch.no_grad():
        expected = reference(torch.tensor([tokens])).logits[0].double().log_softmax(-1)
    found = [ours.logits([token], at) for at, token in enumerate(tokens)]
    scores = torch.from_numpy(np.array(found)).double().log_softmax(-1)
    after = torch.tensor(tokens[1:])[:, None]
    ours_nats, nats = (-each[:-1].gather(1, after).mean().item() for each in (scores, expected))
    assert abs(np.exp(ours_nats) / np.exp(nats) - 1) < 1e-3
    assert 5 < np.exp(nats) < 100


def test_the_official_runtime_says_the_same(ours: Ours, path: Path, tmp_path: Path) -> None:
    pytest.importorskip("executorch", reason="executorch is not installed")
    program = OfficialProgram(export(path, context=64, runtime="executorch").save(tmp_path / "m.pte"))
    tokens = list(ours.tokenizer.encode(PROMPTS[0]))
    said, logits = [], program.logits(tokens, 0)
    for at in range(len(tokens), len(tokens) + 16):
        said.append(int(logits.argmax()))
        logits = program.logits([said[-1]], at)
    assert said == ours.goes_on(tokens, 16)
