# SPDX-License-Identifier: BSD-3-Clause
"""The contents of exported language models, and `rushlight export llm`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

import rushlight  # noqa: E402
from rushlight.cli.main import rushlight as command  # noqa: E402
from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.llm import Tokenizer, export  # noqa: E402
from rushlight.llm.vocabulary import KEY  # noqa: E402
from rushlight.program import read_program  # noqa: E402
from rushlight.program.model import Storage, TensorInfo  # noqa: E402
from support import family_models as tiny  # noqa: E402
from support.llm_programs import logits_of  # noqa: E402

pytestmark = pytest.mark.heavy

TOKENS = [1, *np.random.default_rng(7).integers(3, 99, 40).tolist()]


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny.make("qwen3")


@pytest.fixture(scope="module")
def folder(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(model, tmp_path_factory.mktemp("model"))


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A tokenizer.json of bytes."""
    from tokenizers import Tokenizer as Trained
    from tokenizers import decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Trained(models.BPE({letter: token for token, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_methods_tell_what_runners_ask(folder: Path) -> None:
    generation = folder / "generation_config.json"
    generation.write_text(json.dumps({"bos_token_id": 5, "eos_token_id": [2, 7]}))
    program = rushlight.load(export(folder, context=64, max_seq=8).buffer)
    told = {
        "get_bos_id": [5],
        "get_eos_ids": [2, 7],
        "get_max_seq_len": [8],
        "get_max_context_len": [64],
        "get_vocab_size": [99],
        "get_n_layers": [4],
        "use_kv_cache": [True],
        "use_sdpa_with_kv_cache": [True],
        "enable_dynamic_shape": [True],
    }
    assert set(program.method_names) == {"forward", *told}
    for name, values in told.items():
        assert list(program.load_method(name).execute([])) == values


@pytest.mark.parametrize(("cache", "share"), [("float32", 1e-4), ("float16", 2e-3), ("int8", 3e-2)])
def test_each_kind_of_cache_keeps_its_precision(
    model: Any, folder: Path, tmp_path: Path, cache: str, share: float
) -> None:
    exported = export(folder, weights="float32", cache=cache, max_seq=16)
    expected = tiny.expected_logits(model, TOKENS)[[15, 30, 40]]
    found = logits_of(exported.save(tmp_path / "m.pte"), TOKENS, [16, 15, 10])
    assert np.abs(found - expected).max() < share * np.abs(expected).max()
    numbers = 2 * 4 * 2 * 96 * 32  # keys and values, layers, heads, positions, numbers of a head
    size = {"float32": 4, "float16": 2, "int8": 1}[cache]
    scales = numbers // 32 * 4 if cache == "int8" else 0
    assert exported.report.cache_bytes == numbers * size + scales


def test_an_empty_cache_takes_no_bytes_of_the_file(folder: Path) -> None:
    program = read_program(export(folder).buffer)
    values = [v.data for v in program.method("forward").values if isinstance(v.data, TensorInfo)]
    assert not [tensor for tensor in values if tensor.storage is Storage.MUTABLE]


def test_long_constants_begin_at_lines_of_the_cache(folder: Path) -> None:
    program = read_program(export(folder, weights="int8").buffer)
    assert program.constants is not None
    base = program.segments[program.constants.segment].offset
    for value in program.method("forward").values:
        tensor = value.data
        is_long = isinstance(tensor, TensorInfo) and tensor.nbytes >= 2048
        if is_long and tensor.storage is Storage.CONSTANT:
            assert (base + program.constants.offsets[tensor.buffer_index]) % 64 == 0


def test_tied_logits_share_the_bytes_of_the_embedding(tmp_path: Path) -> None:
    tied = tiny.save(tiny.make("llama"), tmp_path / "tied")
    untied = tiny.save(tiny.make("llama", tie_word_embeddings=False), tmp_path / "untied")
    less, more = (export(each, weights="int8").report.constant_bytes for each in (tied, untied))
    assert more - less == 7 * 2 * (16 * 2 + 16 * 32)  # panels, groups, scales and numbers


def test_a_tokenizer_that_is_named_is_embedded(folder: Path, words: Path) -> None:
    exported = export(folder, tokenizer=words)
    program = read_program(exported.buffer)
    blob = bytes(program.segment(dict(program.named_data)[KEY]))
    assert Tokenizer(blob).decode(Tokenizer(blob).encode("Ab ä")) == "Ab ä"
    assert exported.report.vocabulary_bytes == len(blob)
    assert export(folder).report.remarks[0] == "no tokenizer: the source has none"


def test_a_tokenizer_that_is_none_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("[]")
    with pytest.raises(InvalidArgument, match=r"tokenizer.json: expected a mapping, got list"):
        export(folder, tokenizer=tmp_path / "tokenizer.json")


def test_the_command_writes_a_program_and_says_what_it_is(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.pte"
    chosen = ["--weights", "int8", "--context", "32", "--max-seq", "4", "--cache", "int8"]
    run = CliRunner().invoke(command, ["export", "llm", str(folder), "-o", str(output), *chosen])
    assert run.exit_code == 0, run.output
    assert "qwen3" in run.output and "32 positions, at most 4 tokens a call" in run.output
    same = export(folder, weights="int8", context=32, max_seq=4, cache="int8")
    assert output.read_bytes() == same.buffer


def test_the_command_reports_as_json(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.pte"
    run = CliRunner().invoke(command, ["export", "llm", str(folder), "-o", str(output), "--json"])
    told = json.loads(run.stdout)
    assert told["family"] == "qwen3" and told["layers"] == 4 and told["output"] == str(output)
    assert told["options"]["weights"] == "int4" and told["options"]["embeddings"] == "int8"
    assert told["file_bytes"] == output.stat().st_size


def test_factories_are_exported_as_before() -> None:
    run = CliRunner().invoke(command, ["export", "llm:factory", "-o", "m.pte"])
    assert isinstance(run.exception, InvalidArgument) and "no module named 'llm'" in str(run.exception)
