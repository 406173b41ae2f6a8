# SPDX-License-Identifier: BSD-3-Clause
"""Models that cannot be exported are refused by the name of what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from safetensors.numpy import load_file, save_file  # noqa: E402

from rushlight.errors import InvalidArgument, RushlightError  # noqa: E402
from rushlight.llm import export  # noqa: E402
from rushlight.llm.exporter import open_source  # noqa: E402
from rushlight.llm.families.huggingface import huggingface_config  # noqa: E402
from rushlight.llm.fields import Fields  # noqa: E402
from support import family_models as tiny  # noqa: E402


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tiny.make("llama_untied_biases"), tmp_path_factory.mktemp("model"))


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    for file in saved.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def change_tensors(folder: Path, change: Callable[[dict[str, np.ndarray]], None]) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "rwkv\x1b"}, r"model_type: expected one of llama, .*got 'rwkv\\x1b'"),
        ({"hidden_size": 0}, "hidden_size: expected a whole number from 1 to .*got 0"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers: expected a whole number from 1 to 4096"),
        ({"num_attention_heads": True}, "num_attention_heads: expected a whole number"),
        ({"intermediate_size": None}, "intermediate_size: expected a whole number from 1 to .*got none"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps: expected a number above 0, got nan"),
        ({"hidden_act": "relu"}, "hidden_act: expected one of silu, .*got 'relu'"),
        ({"quantization_config": {}}, "quantization_config: expected none"),
        ({"rope_parameters": {"rope_type": "longrope"}}, "rope_type: expected default, linear, llama3 or"),
        ({"rope_parameters": [1]}, r"rope_parameters: expected a mapping, got \[1\]"),
        ({"num_key_value_heads": 3}, r"k_proj.weight': expected sizes \[72, 64\], got sizes \[48, 64\]"),
        ({"vocab_size": 100}, r"embed_tokens.weight': expected sizes \[100, 64\], got sizes \[99, 64\]"),
        ({"num_hidden_layers": 5}, r"layers.4.input_layernorm.weight': expected .*got no such tensor"),
        ({"num_hidden_layers": 3}, r"layers.3.*and 15 more: expected tensors of the family llama"),
        ({"max_position_embeddings": 8}, "context: expected at most 8"),
    ],
)
def test_configurations_that_do_not_fit(folder: Path, changes: dict[str, Any], message: str) -> None:
    change_config(folder, **changes)
    with pytest.raises(InvalidArgument, match=message):
        export(folder, context=16)


def test_a_missing_tensor(folder: Path) -> None:
    change_tensors(folder, lambda tensors: tensors.pop("model.layers.1.mlp.up_proj.weight"))
    with pytest.raises(InvalidArgument, match=r"layers.1.mlp.up_proj.weight': expected sizes \[96, 64\]"):
        export(folder)


def test_a_missing_bias_that_the_configuration_has(folder: Path) -> None:
    change_tensors(folder, lambda tensors: tensors.pop("model.layers.2.self_attn.k_proj.bias"))
    with pytest.raises(InvalidArgument, match=r"k_proj.bias': expected sizes \[48\], got no such tensor"):
        export(folder)


def test_a_tensor_too_many(folder: Path) -> None:
    change_tensors(folder, lambda t: t.update({"model.layers.0.router.weight": np.zeros((2, 2), np.float32)}))
    with pytest.raises(InvalidArgument, match=r"tensor 'model.layers.0.router.weight': expected tensors of"):
        export(folder)


def test_a_dtype_that_is_no_float(folder: Path) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    change_tensors(folder, lambda tensors: tensors.update({name: tensors[name].astype(np.int8)}))
    with pytest.raises(InvalidArgument, match=r"up_proj.weight': expected F32, F16, BF16, got I8"):
        export(folder)


def test_numbers_too_large_for_float16(folder: Path) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    change_tensors(folder, lambda tensors: tensors.update({name: tensors[name] * np.float32(1e6)}))
    with pytest.raises(InvalidArgument, match="weights: expected numbers up to 65504 for float16"):
        export(folder, weights="float16")


def test_an_index_names_files_beside_it_only(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../x.safetensors"}}')
    with pytest.raises(InvalidArgument, match=r"weight_map: expected names of files beside it, got '../x"):
        export(folder)


def test_a_directory_without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(InvalidArgument, match=r"expected model.safetensors or .*got neither"):
        export(folder)


def test_damaged_safetensors(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    for broken in (b"", data[:7], data[:100], b"\xff" * 64, data[:-1]):
        path.write_bytes(broken)
        with pytest.raises(RushlightError, match="expected safetensors"):
            open_source(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "int5"}, "weights: expected keep, int4, .*got 'int5'"),
        ({"cache": "float64"}, "cache: expected float32, float16 or int8, got 'float64'"),
        ({"activation_bits": 12}, "activations: expected 8 or 16 bits, got 12"),
        ({"context": 97}, "context: expected at most 96, for which the model was made, got 97"),
        ({"context": -1}, "context: expected at least 1 position, got -1"),
        ({"max_seq": 200}, "tokens of a call: expected from 1 to the context of 96, got 200"),
        ({"runtime": "other"}, "runtime: expected rushlight or executorch, got 'other'"),
    ],
)
def test_options_that_cannot_be(saved: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        export(saved, **options)


def test_shards_are_one_model(tmp_path: Path) -> None:
    model = tiny.make("llama_untied_biases")
    whole = tiny.save(model, tmp_path / "whole")
    parts = tiny.save(model, tmp_path / "parts", max_shard_size="60KB")
    assert len(list(parts.glob("*.safetensors"))) > 2
    assert export(parts).buffer == export(whole).buffer


ODD = [
    None,
    True,
    "",
    "x",
    -1,
    0,
    1,
    3,
    10**30,
    -0.5,
    1e-320,
    float("inf"),
    [],
    [1],
    {},
    {"rope_type": "yarn"},
]


@pytest.mark.parametrize("name", ["llama3", "llama_yarn", "smollm3", "gemma3"])
def test_odd_values_are_read_or_refused(name: str) -> None:
    kind, settings = tiny.MODELS[name]
    config = tiny.config_of(kind, settings).to_dict()
    config["model_type"] = config["model_type"] or name
    rope = {f"rope_parameters/{key}": value for key, value in config["rope_parameters"].items()}
    assert huggingface_config(Fields(config, "config.json")).layers
    for key in [*config, *rope]:
        outer, _, inner = key.partition("/")
        for odd in ODD:
            changed = {**config, outer: {**config[outer], inner: odd} if inner else odd}
            try:
                made = huggingface_config(Fields(changed, "config.json"))
            except InvalidArgument as error:
                assert "expected" in error.message
            else:
                assert made.head_dim > 0
                made.ropes[0].tables(4)
