# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the vocabularies of Hugging Face's tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.llm.vocabulary.blob import NONE, AddedFlag, AddedToken, Blob, ModelKind, TokenFlag
from rushlight.llm.vocabulary.byte_level import CHARACTER_OF
from rushlight.llm.vocabulary.byte_pairs import Pairs, pairs_of, table_of, whole_tokens
from rushlight.llm.vocabulary.pipeline import (
    Decoding,
    add_normalizers,
    add_pre_tokenizers,
    byte_of,
    decoding_of,
    refuse,
    surroundings,
)
from rushlight.llm.vocabulary.steps import Steps

_UNKNOWN_PENALTY = 10.0  # below the lowest score, as in SentencePiece


def from_tokenizer_json(document: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> bytes:
    """The blob of a tokenizer.json. `config`: its tokenizer_config.json, which names the tokens that begin
    and end texts. Errors: InvalidArgument for a tokenizer that the blob cannot express."""
    try:
        return _compile(document, config or {})
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidArgument(
            f"tokenizer: expected a tokenizer.json, got one without {error}",
            next_step="Download the tokenizer again.",
        ) from error


def _compile(document: Mapping[str, Any], config: Mapping[str, Any]) -> bytes:
    model = document["model"]
    added = [_as_found(token, document.get("normalizer")) for token in document.get("added_tokens") or ()]
    blob = Blob()
    steps = Steps(blob)
    add_normalizers(steps, document.get("normalizer"))
    by_bytes = add_pre_tokenizers(steps, document.get("pre_tokenizer"))
    decoding = decoding_of(document.get("decoder"))
    blob.strip = decoding.strip
    blob.prefix, blob.suffix = surroundings(document.get("post_processor"))
    kind = model.get("type") or ("BPE" if "merges" in model else "none")
    if kind == "BPE":
        vocabulary = dict(model["vocab"])
        _add_merges(blob, model, vocabulary, by_bytes)
    elif kind == "Unigram":
        vocabulary = {text: i for i, (text, _) in reversed(list(enumerate(model["vocab"])))}
        _add_scores(blob, model, vocabulary)
    else:
        raise refuse("model", {"type": kind}, "BPE or Unigram")
    add_tokens(blob, vocabulary, added, decoding)
    if kind == "Unigram":  # one score per token, added tokens included
        blob.scores = [*blob.scores, *[0.0] * (len(blob.texts) - len(blob.scores))]
    _add_found(blob, added)
    ids = vocabulary | {token["content"]: token["id"] for token in document.get("added_tokens") or ()}
    blob.bos = ids.get(_content(config.get("bos_token")), NONE)
    blob.eos = ids.get(_content(config.get("eos_token")), NONE)
    steps.finish()
    return blob.pack()


def _content(token: Any) -> str:
    """The text of a token in a configuration, given as a string or an object."""
    return str(token["content"] if isinstance(token, Mapping) else token)


def _add_merges(blob: Blob, model: Mapping[str, Any], vocabulary: Mapping[str, int], by_bytes: bool) -> None:
    for name in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
        if model.get(name):
            raise refuse(f"model: {name}", {"type": model[name]}, "none")
    merges = (merge.split(" ", 1) if isinstance(merge, str) else merge for merge in model["merges"])
    pairs = pairs_of(((left, right) for left, right in merges), vocabulary)
    unknown = model.get("unk_token")
    add_byte_pairs(
        blob,
        vocabulary,
        pairs,
        by_bytes=by_bytes,
        byte_fallback=bool(model.get("byte_fallback")),
        ignore_merges=bool(model.get("ignore_merges")),
    )
    blob.fuse_unknown = bool(model.get("fuse_unk"))
    blob.unknown = NONE if unknown is None else vocabulary[unknown]


def add_byte_pairs(
    blob: Blob,
    vocabulary: Mapping[str, int],
    pairs: Pairs,
    *,
    by_bytes: bool,
    byte_fallback: bool,
    ignore_merges: bool,
) -> None:
    """Adds a byte pair encoding model. With pre-tokenizers, whole pieces are looked up as tokens."""
    blob.by_characters = not by_bytes
    blob.merges = table_of(pairs)
    if by_bytes:
        blob.byte_tokens = [vocabulary.get(CHARACTER_OF[byte], NONE) for byte in range(256)]
    else:
        blob.characters = {ord(text): token for text, token in vocabulary.items() if len(text) == 1}
        blob.byte_tokens = fallback_bytes(vocabulary) if byte_fallback else ()
    if not blob.pre_tokenizers:
        return
    blob.looked_up = list(vocabulary.values())
    whole = blob.looked_up
    if not ignore_merges:
        known = dict(vocabulary)
        whole = whole_tokens(known, pairs, lambda text: [known.get(c, -1) for c in text])
    blob.token_flags = [0] * (max(vocabulary.values()) + 1)
    for token in whole:
        blob.token_flags[token] |= TokenFlag.WHOLE


def fallback_bytes(vocabulary: Mapping[str, int]) -> Sequence[int]:
    """The tokens of all 256 bytes. Errors: InvalidArgument."""
    tokens = {byte: token for text, token in vocabulary.items() if (byte := byte_of(text)) is not None}
    if len(tokens) < 256:
        raise InvalidArgument(
            f"tokenizer: byte fallback: expected tokens <0x00> to <0xFF>, got {len(tokens)} of them",
            next_step="Export with another tokenizer, or without one.",
        )
    return [tokens[byte] for byte in range(256)]


def _add_scores(blob: Blob, model: Mapping[str, Any], vocabulary: Mapping[str, int]) -> None:
    blob.kind = ModelKind.UNIGRAM
    blob.scores = [score for _, score in model["vocab"]]
    blob.unknown_score = min(blob.scores) - _UNKNOWN_PENALTY
    blob.unknown = NONE if model.get("unk_id") is None else model["unk_id"]
    blob.byte_tokens = fallback_bytes(vocabulary) if model.get("byte_fallback") else ()
    blob.looked_up = list(vocabulary.values())


def add_tokens(
    blob: Blob, vocabulary: Mapping[str, int], added: Sequence[Mapping[str, Any]], decoding: Decoding
) -> None:
    """Adds the texts and flags of all tokens, and keys where they differ from the texts."""
    ids = {token: text for text, token in vocabulary.items()}
    ids |= {token["id"]: token["content"] for token in added}
    size = max(ids) + 1
    keys = [ids.get(token, "") for token in range(size)]
    blob.texts = [decoding.text(key) for key in keys]
    if blob.looked_up and not decoding.by_bytes:
        blob.keys = [key.encode() for key in keys]
    blob.token_flags += [0] * (size - len(blob.token_flags))
    for token in added:
        if token.get("special"):
            blob.token_flags[token["id"]] |= TokenFlag.SPECIAL


def _as_found(token: Mapping[str, Any], normalizer: Mapping[str, Any] | None) -> dict[str, Any]:
    """The token with the text that it matches and decodes to, normalized if the token says so."""
    normalized = bool(token.get("normalized", not token.get("special")))
    text = token["content"]
    if normalized and normalizer:
        text = _normalized(normalizer, text)
    return {**token, "content": text, "normalized": normalized}


def _add_found(blob: Blob, added: Sequence[Mapping[str, Any]]) -> None:
    """Adds the added tokens, split by whether they match before or after normalization. The last one of
    several with the same text wins."""
    groups: tuple[dict[str, AddedToken], dict[str, AddedToken]] = ({}, {})
    for token in added:
        if text := token["content"]:
            groups[token["normalized"]][text] = AddedToken(text, token["id"], added_flags(token))
    blob.added, blob.added_normalized = (list(tokens.values()) for tokens in groups)


def added_flags(token: Mapping[str, Any]) -> AddedFlag:
    names = {
        "lstrip": AddedFlag.LEFT_SPACES,
        "rstrip": AddedFlag.RIGHT_SPACES,
        "single_word": AddedFlag.SINGLE_WORD,
        "special": AddedFlag.SPECIAL,
    }
    flags = AddedFlag(0)
    for name, flag in names.items():
        if token.get(name):
            flags |= flag
    return flags


def _normalized(normalizer: Mapping[str, Any], text: str) -> str:
    """`text` normalized by the package `tokenizers`."""
    from tokenizers import Tokenizer

    model = {"type": "BPE", "vocab": {}, "merges": []}
    made = Tokenizer.from_str(json.dumps({"version": "1.0", "normalizer": normalizer, "model": model}))
    return str(made.normalizer.normalize_str(text))
