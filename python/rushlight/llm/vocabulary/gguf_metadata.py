# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the vocabularies of GGUF files from their metadata `tokenizer.ggml.*`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.llm.vocabulary.blob import NONE, AddedFlag, AddedToken, Blob, StepKind, Strip
from rushlight.llm.vocabulary.byte_pairs import pairs_by_score, pairs_of
from rushlight.llm.vocabulary.pipeline import Decoding
from rushlight.llm.vocabulary.split_patterns import BY_NAME
from rushlight.llm.vocabulary.steps import Steps
from rushlight.llm.vocabulary.tokenizer_json import add_byte_pairs, add_tokens

_SPACE = "\u2581"


class _Type(IntEnum):
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class _Tokens:
    texts: list[str]
    types: list[int]

    def of(self, *types: _Type) -> dict[str, int]:
        """The tokens of these types by text; the first of several with the same text."""
        found: dict[str, int] = {}
        for token, (text, kind) in enumerate(zip(self.texts, self.types, strict=True)):
            if kind in types:
                found.setdefault(text, token)
        return found


def from_gguf(metadata: Mapping[str, Any]) -> bytes:
    """The blob of a GGUF file. `metadata`: its values by full name; only names that begin with
    `tokenizer.ggml.` are used. Errors: InvalidArgument for a tokenizer that the blob cannot express."""
    facts = {name.removeprefix("tokenizer.ggml."): value for name, value in metadata.items()}
    tokens = _tokens(facts)
    blob = Blob()
    steps = Steps(blob)
    model = facts.get("model")
    if model == "gpt2":
        _add_byte_level(blob, steps, tokens, facts)
    elif model == "llama":
        _add_sentence_pieces(blob, steps, tokens, facts)
    else:
        raise InvalidArgument(
            f"tokenizer.ggml.model: expected gpt2 or llama, got {model}",
            next_step="Export with tokenizer=, the path of the model's tokenizer.json.",
        )
    blob.bos, blob.eos = (_token(facts, f"{name}_token_id", tokens) for name in ("bos", "eos"))
    steps.finish()
    return blob.pack()


def _tokens(facts: Mapping[str, Any]) -> _Tokens:
    texts = [str(text) for text in facts.get("tokens", ())]
    types = [int(kind) for kind in facts.get("token_type", [_Type.NORMAL] * len(texts))]
    if not texts or len(types) != len(texts):
        raise InvalidArgument(
            f"tokenizer.ggml: expected tokens and as many types, got {len(texts)} and {len(types)}",
            next_step="Export with tokenizer=, the path of the model's tokenizer.json.",
        )
    return _Tokens(texts, types)


def _token(facts: Mapping[str, Any], name: str, tokens: _Tokens) -> int:
    token = int(facts.get(name, NONE))
    return token if 0 <= token < len(tokens.texts) else NONE


def _add_byte_level(blob: Blob, steps: Steps, tokens: _Tokens, facts: Mapping[str, Any]) -> None:
    name = str(facts.get("pre", "default"))
    if name not in BY_NAME:
        raise InvalidArgument(
            f"tokenizer.ggml.pre: expected one of {', '.join(sorted(BY_NAME))}, got {name}",
            next_step="Export with tokenizer=, the path of the model's tokenizer.json.",
        )
    split = BY_NAME[name]
    if split.normal_form:
        steps.normal_form(split.normal_form)
    for pattern in split.patterns:
        steps.split(pattern)
    vocabulary = tokens.of(_Type.NORMAL, _Type.UNUSED)
    merges = (merge.partition(" ")[::2] for merge in map(str, facts.get("merges", ())))
    add_byte_pairs(
        blob,
        vocabulary,
        pairs_of(((left, right) for left, right in merges), vocabulary),
        by_bytes=True,
        byte_fallback=False,
        ignore_merges=split.ignore_merges,
    )
    _finish(blob, tokens, facts, Decoding(by_bytes=True), add_bos=split.add_bos)


def _add_sentence_pieces(blob: Blob, steps: Steps, tokens: _Tokens, facts: Mapping[str, Any]) -> None:
    prefix = bool(facts.get("add_space_prefix", True))
    if prefix:
        steps.normalize(StepKind.PREPEND, _SPACE)
    steps.normalize(StepKind.REPLACE, " ", _SPACE)
    vocabulary = tokens.of(_Type.NORMAL)
    scores: Sequence[float] = [float(score) for score in facts.get("scores", ())]
    if len(scores) != len(tokens.texts):
        raise InvalidArgument(
            f"tokenizer.ggml.scores: expected {len(tokens.texts)}, got {len(scores)}",
            next_step="Export with tokenizer=, the path of the model's tokenizer.json.",
        )
    add_byte_pairs(
        blob,
        vocabulary | tokens.of(_Type.BYTE),
        pairs_by_score(vocabulary, scores),
        by_bytes=False,
        byte_fallback=True,
        ignore_merges=False,
    )
    blob.unknown = _token(facts, "unknown_token_id", tokens)
    decoding = Decoding(byte_fallback=True, replacements=((_SPACE, " "),))
    blob.strip = Strip.ONE_SPACE if prefix else Strip.NOTHING
    _finish(blob, tokens, facts, decoding, add_bos=True)


def _finish(
    blob: Blob, tokens: _Tokens, facts: Mapping[str, Any], decoding: Decoding, *, add_bos: bool
) -> None:
    """Adds all tokens with their texts; control and user-defined tokens are matched in the raw text."""
    special = tokens.of(_Type.CONTROL, _Type.UNKNOWN)
    added = special | tokens.of(_Type.USER_DEFINED)
    found = [
        {"id": token, "content": text, "special": text in special} for text, token in added.items() if text
    ]
    everything = {text: token for token, text in reversed(list(enumerate(tokens.texts)))}
    add_tokens(blob, everything, found, decoding)
    blob.added = [
        AddedToken(text, token, AddedFlag.SPECIAL if text in special else AddedFlag(0))
        for text, token in added.items()
        if text
    ]
    for name, default, field in (("bos", add_bos, "prefix"), ("eos", False, "suffix")):
        token = _token(facts, f"{name}_token_id", tokens)
        if facts.get(f"add_{name}_token", default) and token != NONE:
            setattr(blob, field, [token])
