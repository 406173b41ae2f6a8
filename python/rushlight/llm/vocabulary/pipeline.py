# SPDX-License-Identifier: BSD-3-Clause
"""Converts the normalizer, pre-tokenizer, decoder and post-processor of a tokenizer.json to the steps of a
blob."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.llm.vocabulary.blob import Behavior, StepKind, Strip
from rushlight.llm.vocabulary.byte_level import to_bytes
from rushlight.llm.vocabulary.pattern import WORD
from rushlight.llm.vocabulary.steps import Steps

Part = Mapping[str, Any]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_NUMBER = r"\p{N}"
_BEHAVIORS = {
    "Isolated": Behavior.ISOLATED,
    "Removed": Behavior.REMOVED,
    "Contiguous": Behavior.CONTIGUOUS,
    "MergedWithPrevious": Behavior.WITH_PREVIOUS,
    "MergedWithNext": Behavior.WITH_NEXT,
}


def refuse(what: str, part: Part | None, expected: str) -> InvalidArgument:
    name = "none" if part is None else part.get("type", "no type")
    return InvalidArgument(
        f"tokenizer: {what}: expected {expected}, got {name}",
        next_step="Export with another tokenizer, or without one.",
    )


def flattened(part: Part | None, members: str) -> list[Part]:
    """The parts of a sequence, with nested sequences flattened; a single part as a list of one; [] for
    None."""
    if part is None:
        return []
    if part.get("type") != "Sequence":
        return [part]
    return [inner for member in part[members] for inner in flattened(member, members)]


def _text_pattern(part: Part) -> str | None:
    text: str | None = part["pattern"].get("String")
    return text


def _quoted(text: str) -> str:
    """A regular expression that matches the text literally."""
    return "".join(c if c.isalnum() or c.isspace() or ord(c) > 127 else f"\\{c}" for c in text)


def add_normalizers(steps: Steps, part: Part | None) -> None:
    """Adds the steps of a normalizer. Errors: InvalidArgument for a normalizer that is not supported."""
    for one in flattened(part, "normalizers"):
        kind = one["type"]
        if kind in ("NFC", "NFD", "NFKC", "NFKD"):
            steps.normal_form(kind)
        elif kind == "Lowercase":
            steps.lower_case()
        elif kind == "Prepend":
            steps.normalize(StepKind.PREPEND, one["prepend"])
        elif kind == "Strip":
            steps.normalize(StepKind.STRIP_SPACES, int(one["strip_left"]), int(one["strip_right"]))
        elif kind == "Replace" and (text := _text_pattern(one)) is not None:
            steps.normalize(StepKind.REPLACE, text, one["content"])
        elif kind == "Replace":
            steps.normalize(StepKind.REPLACE_PATTERN, steps.pattern(one["pattern"]["Regex"]), one["content"])
        else:
            raise refuse("normalizer", one, "NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Strip or Replace")


def add_pre_tokenizers(steps: Steps, part: Part | None) -> bool:
    """Adds the steps of a pre-tokenizer; returns True if tokens are bytes. Errors: InvalidArgument for a
    pre-tokenizer that is not supported."""
    by_bytes = False
    for one in flattened(part, "pretokenizers"):
        if by_bytes:
            raise refuse("pre-tokenizer", one, "nothing after ByteLevel")
        kind = one["type"]
        if kind not in _PRE_TOKENIZERS:
            raise refuse("pre-tokenizer", one, " or ".join(_PRE_TOKENIZERS))
        _PRE_TOKENIZERS[kind](steps, one)
        by_bytes = kind == "ByteLevel"
    return by_bytes


def _split(steps: Steps, part: Part) -> None:
    text = _text_pattern(part)
    source = part["pattern"]["Regex"] if text is None else _quoted(text)
    if source:
        steps.split(source, _BEHAVIORS[part["behavior"]], invert=part.get("invert", False))


def _digits(steps: Steps, part: Part) -> None:
    steps.split(_NUMBER, Behavior.ISOLATED if part["individual_digits"] else Behavior.CONTIGUOUS)


def _byte_level(steps: Steps, part: Part) -> None:
    if part.get("add_prefix_space", True):
        steps.pre_tokenize(StepKind.PREFIX_PIECE, " ", " ")
    if part.get("use_regex", True):
        steps.split(GPT2)


def _metaspace(steps: Steps, part: Part) -> None:
    mark, scheme = part["replacement"], _prepend_scheme(part)
    steps.pre_tokenize(StepKind.REPLACE_IN_PIECE, " ", mark)
    if scheme != "never":
        steps.pre_tokenize(StepKind.PREFIX_PIECE, mark, mark, int(scheme == "first"))
    if part.get("split", True):
        steps.split(_quoted(mark), Behavior.WITH_NEXT)


def _prepend_scheme(part: Part) -> str:
    return str(part.get("prepend_scheme", "always" if part.get("add_prefix_space", True) else "never"))


_PRE_TOKENIZERS: dict[str, Callable[[Steps, Part], None]] = {
    "Split": _split,
    "Digits": _digits,
    "ByteLevel": _byte_level,
    "Metaspace": _metaspace,
    "Punctuation": lambda steps, part: steps.split_off_punctuation(
        _BEHAVIORS[part.get("behavior", "Isolated")]
    ),
    "Whitespace": lambda steps, _: steps.split(f"{WORD}+|[^\\s{WORD[1:-1]}]+", Behavior.REMOVED, invert=True),
    "WhitespaceSplit": lambda steps, _: steps.split(r"\s", Behavior.REMOVED),
    "CharDelimiterSplit": lambda steps, part: steps.split(_quoted(part["delimiter"]), Behavior.REMOVED),
}


@dataclass
class Decoding:
    """The conversion of tokens to text: by `replacements` in order, or as bytes."""

    by_bytes: bool = False
    byte_fallback: bool = False
    replacements: tuple[tuple[str, str], ...] = ()
    strip: Strip = Strip.NOTHING

    def text(self, token: str) -> bytes:
        """The bytes that a token stands for."""
        if self.by_bytes:
            return to_bytes(token)
        for old, new in self.replacements:
            token = token.replace(old, new)
        byte = byte_of(token) if self.byte_fallback else None
        return token.encode() if byte is None else bytes([byte])


def byte_of(token: str) -> int | None:
    """The byte that a token such as <0x0A> stands for; None for other tokens."""
    if len(token) != 6 or not (token.startswith("<0x") and token.endswith(">")):
        return None
    try:
        return int(token[3:5], 16)
    except ValueError:
        return None


def decoding_of(part: Part | None) -> Decoding:
    """The conversion of tokens to text. Errors: InvalidArgument for a decoder that is not supported."""
    decoding, fused = Decoding(), False
    parts = flattened(part, "decoders")
    if not parts:
        raise refuse("decoder", None, "ByteLevel, Metaspace, or Replace, ByteFallback, Fuse and Strip")
    for one in parts:
        kind = one["type"]
        if kind == "ByteLevel":
            decoding.by_bytes = True
        elif kind == "ByteFallback":
            decoding.byte_fallback = True
        elif kind == "Fuse":
            fused = True
        elif kind == "Replace" and not fused and (text := _text_pattern(one)):
            decoding.replacements += ((text, one["content"]),)
        elif kind == "Metaspace" and not fused:
            decoding.replacements += ((one["replacement"], " "),)
            decoding.strip = Strip.NOTHING if _prepend_scheme(one) == "never" else Strip.FIRST_TOKEN
        elif kind == "Strip" and fused and (one["content"], one["start"], one["stop"]) == (" ", 1, 0):
            decoding.strip = Strip.ONE_SPACE
        else:
            raise refuse("decoder", one, "ByteLevel, Metaspace, or Replace, ByteFallback, Fuse and Strip")
    return decoding


def surroundings(part: Part | None) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text. Errors: InvalidArgument."""
    before: list[int] = []
    after: list[int] = []
    for one in flattened(part, "processors"):
        if one["type"] == "ByteLevel":
            continue
        if one["type"] in ("RobertaProcessing", "BertProcessing"):
            before, after = [one["cls"][1], *before], [*after, one["sep"][1]]
            continue
        if one["type"] != "TemplateProcessing":
            raise refuse("post-processor", one, "ByteLevel, TemplateProcessing or RobertaProcessing")
        here: tuple[list[int], list[int]] = ([], [])
        end = 0
        for item in one["single"]:
            if "Sequence" in item:
                end = 1
            else:
                here[end].extend(one["special_tokens"][item["SpecialToken"]["id"]]["ids"])
        before, after = [*here[0], *before], [*after, *here[1]]
    return before, after
