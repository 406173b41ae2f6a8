# SPDX-License-Identifier: BSD-3-Clause
"""Exports language models: a GGUF file or a Hugging Face directory becomes one program file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rushlight.convert.files import own_operators
from rushlight.errors import InvalidArgument
from rushlight.llm.build import DecoderBuilder, write_decoder
from rushlight.llm.embedded import Embedded, embedded_data
from rushlight.llm.export_options import DEFAULT_CONTEXT, DEFAULT_MAX_SEQ, LlmOptions
from rushlight.llm.metadata import metadata_methods
from rushlight.llm.official import OfficialDecoder
from rushlight.llm.vocabulary import KEY
from rushlight.llm.weights.gguf_source import open_gguf
from rushlight.llm.weights.huggingface import HuggingFaceSource
from rushlight.llm.weights.source import WeightSource
from rushlight.lowered.data import ArrayPool
from rushlight.lowered.emit import Emitter, Pools
from rushlight.lowered.instructions import LoweredMethod
from rushlight.lowered.planning import plan_memory
from rushlight.program import FileImage, ProgramParts, write_program

PathLike = str | os.PathLike[str]
Progress = Callable[[str, float], None]


@dataclass
class LlmReport:
    """Describes an export: model, options, and sizes in bytes. `cache_bytes` and `planned_bytes` are memory
    that the program takes at run time; `planned_bytes` includes `cache_bytes`. `vocabulary_bytes` is 0
    without a tokenizer; `remarks` say why."""

    family: str
    parameters: int
    layers: int
    vocabulary: int
    options: LlmOptions
    instructions: int
    constant_bytes: int
    cache_bytes: int
    planned_bytes: int
    vocabulary_bytes: int
    remarks: list[str]
    file_bytes: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {**vars(self), "options": vars(self.options)}


@dataclass
class LlmProgram:
    """A language model as a program. `parts` are the methods and their bytes, in the order of the file."""

    parts: ProgramParts
    report: LlmReport = field(repr=False)

    @cached_property
    def _image(self) -> FileImage:
        return write_program(self.parts)

    @property
    def buffer(self) -> bytes:
        """The file's bytes."""
        return self._image.tobytes()

    def save(self, path: PathLike) -> Path:
        """Writes the program. Error: FileFailed."""
        self._image.save(path)
        return Path(path)


def export(
    source: PathLike,
    *,
    weights: str | None = None,
    embeddings: str | None = None,
    context: int | None = None,
    max_seq: int | None = None,
    cache: str = "float32",
    activation_bits: int = 16,
    runtime: str = "rushlight",
    tokenizer: PathLike | None = None,
    progress: Progress = lambda what, share: None,
) -> LlmProgram:
    """A language model as one program: `forward(tokens int64 [1, S], input_pos int64 [1])` returns the logits
    float32 [1, vocabulary] of the last token. It caches keys and values of earlier positions, and contains
    the tokenizer and the chat template.

        rushlight.llm.export("SmolLM2.gguf").save("smollm2.pte")

    Args:
        source: a GGUF file, or a Hugging Face directory with config.json and safetensors. Families:
            llama, smollm3, qwen2, qwen3, gemma, gemma2, gemma3.
        weights: how matrices are stored. `keep`: as in the file, block-quantized values
            with the same steps (the default for GGUF). `int4`, `int8`: in groups of 32 with a float16 scale
            (`int4` is the default for directories). `float16`, `float32`.
        embeddings: likewise for token embedding and logits [default: as `weights`, `int8` for `int4`].
        context: maximum number of cached positions [default: the model's, at most 2048].
        max_seq: maximum number of tokens of one call [default: 256, at most the context].
        cache: dtype of cached keys and values: float32, float16, or int8 with a scale for each
            position and head.
        activation_bits: bits of rows multiplied by block weights, 16 or 8, rounded in blocks of 32.
        runtime: the runtime whose operators are called. `executorch`: operators of the official runtime 1.5.1
            with its libraries of quantized and language model operators; rushlight runs such a program, too.
            In these programs block weights have 8 bits with a float32 scale per group (mixed_linear,
            embedding_byte; minimums take a separate product), all other weights and the cache are float32.
        tokenizer: a tokenizer.json that replaces the source's tokenizer.
        progress: called with a description of the current step and the share of work done.

    Errors: InvalidArgument for damaged files, unknown families, and tensors that are missing, misshapen
    or not used; FileFailed; MissingDependency.
    """
    started = time.monotonic()
    model = open_source(source)
    options = _options(model, weights, embeddings, context, max_seq, cache, activation_bits, runtime)
    kind = OfficialDecoder if options.runtime == "executorch" else DecoderBuilder
    progress("tokenizer", 0.0)
    embedded = embedded_data(model, tokenizer)  # before weights take memory
    method = write_decoder(kind(model, options, own_operators()), progress)
    program = _program(model, options, method, embedded)
    program.report.file_bytes = program._image.nbytes
    program.report.seconds = time.monotonic() - started
    return program


def open_source(source: PathLike) -> WeightSource:
    """Opens the weights at a path. Errors: InvalidArgument, FileFailed."""
    path = Path(source)
    if not path.exists():
        raise InvalidArgument(
            f"{path}: expected a GGUF file or a directory with config.json, got nothing",
            next_step="Check the path.",
        )
    return HuggingFaceSource(path) if path.is_dir() else open_gguf(path)


def _options(
    model: WeightSource,
    weights: str | None,
    embeddings: str | None,
    context: int | None,
    max_seq: int | None,
    cache: str,
    activation_bits: int,
    runtime: str,
) -> LlmOptions:
    chosen = weights or model.default_weights
    most = model.config.context
    if context is not None and context > most:
        raise InvalidArgument(
            f"context: expected at most {most}, for which the model was made, got {context}"
        )
    length = min(most, DEFAULT_CONTEXT) if context is None else context
    return LlmOptions(
        weights=chosen,
        embeddings=embeddings or ("int8" if chosen == "int4" else chosen),
        context=length,
        max_seq=min(DEFAULT_MAX_SEQ, length) if max_seq is None else max_seq,
        cache=cache,
        activation_bits=activation_bits,
        runtime=runtime,
    )


def _program(
    model: WeightSource, options: LlmOptions, method: LoweredMethod, embedded: Embedded
) -> LlmProgram:
    config = model.config
    planned = plan_memory(method)
    pools = Pools(ArrayPool(), ArrayPool())
    forward = Emitter(method, planned.memory_map, pools).method()
    facts = metadata_methods(
        model.special_tokens(),
        vocabulary=config.vocabulary,
        layers=len(config.layers),
        context=options.context,
        max_seq=options.max_seq,
        custom_sdpa=True,
    )
    parts = ProgramParts((forward, *facts), pools.constants.pieces, pools.mutable.pieces, embedded.data)
    report = LlmReport(
        family=config.family,
        parameters=model.parameters,
        layers=len(config.layers),
        vocabulary=config.vocabulary,
        options=options,
        instructions=len(forward.instructions),
        constant_bytes=pools.constants.nbytes,
        cache_bytes=sum(each.storage.nbytes for each in method.mutable),
        planned_bytes=sum(forward.buffer_sizes),
        vocabulary_bytes=len(embedded.data.get(KEY, b"")),
        remarks=embedded.remarks,
    )
    return LlmProgram(parts, report)
