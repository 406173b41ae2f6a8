# SPDX-License-Identifier: BSD-3-Clause
"""Converts a GGUF file of a Llama for peers that do not read GGUF:

    python benchmarks/llm/make_peers.py official MODEL.gguf official.pte   # executorch, torch, gguf
    python benchmarks/llm/make_peers.py hf MODEL.gguf FOLDER               # transformers, gguf, accelerate
    python -m onnxruntime_genai.models.builder -m FOLDER -i FOLDER -o GENAI -p int4 -e cpu -c CACHE \\
        --extra_options int4_block_size=32 int4_accuracy_level=4 hf_token=false

The official program is the result of executorch.examples.models.llama with `-X --xnnpack-extended-ops`: a
cache by custom operators, linear layers in 8da4w and embeddings in 8 bits. Both conversions quantize the
weights again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

_NAMES = {
    "attn_q": "attention.wq",
    "attn_k": "attention.wk",
    "attn_v": "attention.wv",
    "attn_output": "attention.wo",
    "ffn_gate": "feed_forward.w1",
    "ffn_down": "feed_forward.w2",
    "ffn_up": "feed_forward.w3",
    "attn_norm": "attention_norm",
    "ffn_norm": "ffn_norm",
    "token_embd": "tok_embeddings",
    "output_norm": "norm",
    "output": "output",
}


def checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Weights by the names of the official example, whose rotary pairs equal GGUF's, and its settings."""
    import torch
    from gguf import GGUFReader, dequantize

    reader = GGUFReader(path)
    state: dict[str, Any] = {}
    for tensor in reader.tensors:
        *layer, part, kind = tensor.name.split(".")
        prefix = f"layers.{layer[1]}." if layer else ""
        numbers = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
        state[f"{prefix}{_NAMES[part]}.{kind}"] = numbers
    state.setdefault("output.weight", state["tok_embeddings.weight"].clone())

    def fact(name: str) -> Any:
        return reader.fields[f"llama.{name}"].contents()

    settings = {
        "dim": fact("embedding_length"),
        "n_layers": fact("block_count"),
        "n_heads": fact("attention.head_count"),
        "n_kv_heads": fact("attention.head_count_kv"),
        "vocab_size": len(state["tok_embeddings.weight"]),
        "hidden_dim": fact("feed_forward_length"),
        "norm_eps": fact("attention.layer_norm_rms_epsilon"),
        "rope_theta": fact("rope.freq_base"),
        "use_scaled_rope": False,
    }
    return state, settings


def make_official(path: Path, to: Path) -> None:
    """Writes the program of the official example."""
    import torch
    from executorch.examples.models.llama.export_llama_lib import _export_llama
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  registers operators
    from executorch.extension.llm.export.config.llm_config import LlmConfig

    state, settings = checkpoint(path)
    with tempfile.TemporaryDirectory() as folder:
        config = LlmConfig()
        config.base.params, config.base.checkpoint = f"{folder}/params.json", f"{folder}/weights.pth"
        config.base.metadata = json.dumps({"get_bos_id": 1, "get_eos_ids": [2]})
        config.model.use_kv_cache = config.model.use_sdpa_with_kv_cache = True
        config.export.max_seq_length = config.export.max_context_length = 2048
        config.export.output_dir, config.export.output_name = folder, "model"
        config.quantization.qmode, config.quantization.group_size = "8da4w", 32
        config.quantization.embedding_quantize = "8,0"
        config.backend.xnnpack.enabled = config.backend.xnnpack.extended_ops = True
        Path(config.base.params).write_text(json.dumps(settings))
        torch.save(state, config.base.checkpoint)
        _export_llama(config)
        to.write_bytes((Path(folder) / "model.pte").read_bytes())


def make_folder(path: Path, to: Path) -> None:
    """Writes a Hugging Face folder with float32 weights."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = {"gguf_file": path.name}
    model = AutoModelForCausalLM.from_pretrained(path.parent, **file, dtype=torch.float32)
    model.config.__dict__.pop("quantization_config", None)
    plain = type(model)(model.config)  # without the quantization marks, which prevent saving
    plain.load_state_dict(model.state_dict())
    plain.save_pretrained(to)
    AutoTokenizer.from_pretrained(path.parent, **file).save_pretrained(to)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("official", "hf"):
        sys.exit(__doc__)
    make = make_official if sys.argv[1] == "official" else make_folder
    make(Path(sys.argv[2]), Path(sys.argv[3]))
