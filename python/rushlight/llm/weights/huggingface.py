# SPDX-License-Identifier: BSD-3-Clause
"""The weights of a model in a Hugging Face directory: config.json, and one or several safetensors files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.errors import InvalidArgument, MissingDependency
from rushlight.llm.blocks import Array
from rushlight.llm.families.huggingface import huggingface_config
from rushlight.llm.fields import Fields
from rushlight.llm.metadata import SpecialTokens
from rushlight.llm.template import from_tokenizer_config
from rushlight.llm.vocabulary.files import read_mapping, vocabulary_of_file
from rushlight.llm.weights.source import FloatMatrix, Matrix, WeightSource
from rushlight.printable import one_line

_DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_WHOLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_EMBEDDING = "embed_tokens.weight"

_LAYER = {
    "attention_norm": "input_layernorm",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "query_norm": "self_attn.q_norm",
    "key_norm": "self_attn.k_norm",
    "attention_output": "self_attn.o_proj",
    "feed_norm": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
_POST_NORMS = {
    "attention_post_norm": "post_attention_layernorm",
    "feed_norm": "pre_feedforward_layernorm",
    "feed_post_norm": "post_feedforward_layernorm",
}
"""Tensor names in families with norms after attention and feed-forward parts."""


class HuggingFaceSource(WeightSource):
    """See WeightSource."""

    default_weights = "int4"

    def __init__(self, folder: Path) -> None:
        path = folder / "config.json"
        fields = Fields(read_mapping(path), str(path))
        config = huggingface_config(fields)
        self.folder, self._fields = folder, fields
        self._tensors = _Tensors(folder)
        self._prefix = self._tensors.prefix_of(_EMBEDDING)
        layer = {**_LAYER, **(_POST_NORMS if config.post_norms else {})}
        names = {part: f"{self._prefix}layers.{{}}.{name}" for part, name in layer.items()}
        names |= {"embedding": f"{self._prefix}embed_tokens", "norm": f"{self._prefix}norm"}
        self._output = self._tensors.prefix_of("lm_head.weight") + "lm_head"
        super().__init__(str(folder), {**names, "output": self._output}, config)

    def special_tokens(self) -> SpecialTokens:
        path = self.folder / "generation_config.json"
        told = [self._fields] if not path.is_file() else [Fields(read_mapping(path), str(path)), self._fields]
        last = self.config.vocabulary - 1
        ends: tuple[int, ...] = ()
        first = None
        for fields in reversed(told):
            if fields.get("bos_token_id") is not None:
                first = fields.integer("bos_token_id", least=0, most=last)
            if fields.get("eos_token_id") is not None:
                ends = tuple(fields.integers("eos_token_id", most=last))
        return SpecialTokens(first, ends)

    def vocabulary(self) -> bytes | None:
        paths = [self.folder / name for name in ("tokenizer.json", "tokenizer.model")]
        return next((vocabulary_of_file(path) for path in paths if path.is_file()), None)

    def chat_template(self) -> bytes | None:
        """From tokenizer_config.json, or from the separate file chat_template.jinja."""
        path, own = self.folder / "tokenizer_config.json", self.folder / "chat_template.jinja"
        config = read_mapping(path) if path.is_file() else {}
        if own.is_file():
            config = {**config, "chat_template": own.read_text("utf-8", "replace")}
        return from_tokenizer_config(config)

    def sizes(self, name: str) -> tuple[int, ...] | None:
        return self._tensors.sizes(name)

    def tensor_names(self) -> Iterable[str]:
        """The tensors of the text model, without a tied output stored in addition to the embedding."""
        output = f"{self._output}.weight"
        for name in self._tensors.names():
            is_text = name.startswith((self._prefix, self._output))
            is_needless = name.endswith("rotary_emb.inv_freq") or (self.config.tied and name == output)
            if is_text and not is_needless:
                yield name

    def open_matrix(self, name: str) -> Matrix:
        dtype, view = self._tensors.open(name)
        features, depth = view.get_shape()

        def rows(start: int, stop: int) -> Array:
            found: Array = view[start:stop]
            return found

        return FloatMatrix(dtype, features, depth, rows)

    def read_vector(self, name: str) -> Array:
        _, view = self._tensors.open(name)
        found: Array = view[:].astype(np.float32)
        return found


class _Tensors:
    """The tensors of all files in a directory."""

    def __init__(self, folder: Path) -> None:
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError as error:
            raise MissingDependency("safetensors", "llm") from error
        self._files: dict[str, Any] = {}
        for file in _files(folder):
            try:
                opened: Any = safe_open(os.fspath(file), framework="numpy")
            except (SafetensorError, OSError) as error:
                raise InvalidArgument(f"{file}: expected safetensors: {one_line(str(error))}") from error
            for name in list(opened.keys()):
                if name in self._files:
                    raise InvalidArgument(f"{file}: tensor '{one_line(name)}': expected once, got twice")
                self._files[name] = opened
        self._folder = folder

    def names(self) -> Iterable[str]:
        return self._files

    def sizes(self, name: str) -> tuple[int, ...] | None:
        opened = self._files.get(name)
        return None if opened is None else tuple(opened.get_slice(name).get_shape())

    def prefix_of(self, ending: str) -> str:
        """The part before `ending` in the shortest name that ends with it; empty if there is none."""
        found = [name for name in self._files if name.endswith(ending)]
        return min(found, key=len)[: -len(ending)] if found else ""

    def open(self, name: str) -> tuple[str, Any]:
        """The dtype of a tensor, and a view from which rows are read."""
        view = self._files[name].get_slice(name)
        dtype = _DTYPES.get(view.get_dtype())
        if dtype is None:
            raise InvalidArgument(
                f"{self._folder}: tensor '{one_line(name)}': expected {', '.join(_DTYPES)}, got "
                f"{view.get_dtype()}"
            )
        return dtype, view


def _files(folder: Path) -> list[Path]:
    """The files with tensors, from the index if there is one."""
    index = folder / _INDEX
    if not index.is_file():
        whole = folder / _WHOLE
        if not whole.is_file():
            raise InvalidArgument(f"{folder}: expected {_WHOLE} or {_INDEX}, got neither")
        return [whole]
    listed = Fields(read_mapping(index), str(index)).get("weight_map")
    names = set(listed.values()) if isinstance(listed, dict) else {None}
    found = []
    for name in sorted(map(str, names)):
        if Path(name).name != name or not (folder / name).is_file():
            raise InvalidArgument(
                f"{index}: weight_map: expected names of files beside it, got '{one_line(name[:80])}'"
            )
        found.append(folder / name)
    return found
