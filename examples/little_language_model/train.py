# SPDX-License-Identifier: BSD-3-Clause
"""Trains a language model of half a million parameters on the docstrings of Python's standard library, and
writes it as Hugging Face has its models: config.json, model.safetensors, tokenizer.json.

    python examples/little_language_model/train.py -o little        # 3 minutes on two cores
    rushlight export llm little -o little.pte --context 128 --max-seq 16

Needs torch and the extra `llm`.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from torch.nn import functional

END = "<|end|>"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Shape:
    """Sizes of a model."""

    vocabulary: int = 512
    width: int = 96
    layers: int = 4
    heads: int = 4
    key_heads: int = 2
    hidden: int = 256
    context: int = 256

    @property
    def head(self) -> int:
        """Elements of a head."""
        return self.width // self.heads

    def config(self) -> dict[str, object]:
        """The contents of config.json, as transformers reads it."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.key_heads,
            "intermediate_size": self.hidden,
            "max_position_embeddings": self.context,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "hidden_act": "silu",
            "tie_word_embeddings": True,
            "bos_token_id": 0,
            "eos_token_id": 0,
        }


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.q_proj = nn.Linear(shape.width, shape.heads * shape.head, bias=False)
        self.k_proj = nn.Linear(shape.width, shape.key_heads * shape.head, bias=False)
        self.v_proj = nn.Linear(shape.width, shape.key_heads * shape.head, bias=False)
        self.o_proj = nn.Linear(shape.heads * shape.head, shape.width, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape

        def heads(projected: torch.Tensor) -> torch.Tensor:
            return projected.view(batch, length, -1, self.shape.head).transpose(1, 2)

        def rotated(x: torch.Tensor) -> torch.Tensor:
            low, high = x.chunk(2, -1)
            return x * cos + torch.cat((-high, low), -1) * sin

        query, key = rotated(heads(self.q_proj(x))), rotated(heads(self.k_proj(x)))
        attended = functional.scaled_dot_product_attention(
            query, key, heads(self.v_proj(x)), is_causal=True, enable_gqa=True
        )
        projected: torch.Tensor = self.o_proj(attended.transpose(1, 2).reshape(batch, length, -1))
        return projected


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up_proj = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down_proj = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        projected: torch.Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return projected


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(shape.width, eps=1e-5)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = nn.RMSNorm(shape.width, eps=1e-5)
        self.mlp = FeedForward(shape)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        fed: torch.Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return fed


class Model(nn.Module):
    """A llama. Its tensors have the names of transformers without the prefix `model.`."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=1e-5)
        frequencies = 10000.0 ** (-torch.arange(0, shape.head, 2) / shape.head)
        angles = torch.outer(torch.arange(shape.context), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.05)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The logits of each position."""
        length = tokens.shape[1]
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, self.cos[:length], self.sin[:length])
        return functional.linear(self.norm(x), self.embed_tokens.weight)


def docstrings() -> Iterator[str]:
    """The docstrings of Python's standard library, without its tests."""
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.rglob("*.py")):
        if {"site-packages", "dist-packages", "test", "tests", "idle_test"} & set(
            path.relative_to(library).parts
        ):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            is_documented = isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            if is_documented and (text := ast.get_docstring(node)):
                yield text


def train_tokenizer(texts: list[str], vocabulary: int) -> Tokenizer:
    """Trains byte pairs; END is token 0."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def train(model: Model, tokens: torch.Tensor, shape: Shape, steps: int, batch: int = 16) -> float:
    """Trains the model, and returns a running average of the loss."""
    groups = [
        {"params": [p for p in model.parameters() if p.dim() == 2], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.95))
    length, start, average = shape.context // 2, time.monotonic(), math.log(shape.vocabulary)
    for step in range(1, steps + 1):
        decay = 0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2
        for group in optimizer.param_groups:
            group["lr"] = 6e-3 * min(1.0, step / 50) * decay
        at = torch.randint(len(tokens) - length - 1, (batch,))
        rows = torch.stack([tokens[i : i + length + 1] for i in at.tolist()])
        loss = functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average += max(0.02, 1 / step) * (loss.item() - average)
        if step % 100 == 0:
            print(f"step {step} of {steps}: loss {average:.3f}, {time.monotonic() - start:.0f} s", flush=True)
    return average


def write_model(model: Model, shape: Shape, tokenizer: Tokenizer, folder: Path) -> None:
    """Writes the three files that exporters read."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(shape.config(), indent=2) + "\n")
    tokenizer.save(str(folder / "tokenizer.json"))


def make(folder: Path, shape: Shape, steps: int, texts: list[str]) -> float:
    """Trains a model on texts, writes it, and returns its loss at the end."""
    torch.manual_seed(1)
    tokenizer = train_tokenizer(texts, shape.vocabulary)
    coded = tokenizer.encode_batch([text + END for text in texts])
    tokens = torch.tensor([number for each in coded for number in each.ids])
    model = Model(shape)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{count:,} parameters, {len(tokens):,} tokens of text", flush=True)
    loss = train(model, tokens, shape, steps)
    write_model(model, shape, tokenizer, folder)
    return loss


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--steps", type=int, default=1200, help="steps of training [default: 1200]")
    for name, default in asdict(Shape()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    options = parser.parse_args()
    shape = Shape(**{name: getattr(options, name) for name in asdict(Shape())})
    loss = make(options.output, shape, options.steps, list(docstrings()))
    print(f"{options.output}: loss {loss:.3f}")


if __name__ == "__main__":
    main()
