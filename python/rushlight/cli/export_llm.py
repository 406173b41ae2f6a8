# SPDX-License-Identifier: BSD-3-Clause
"""rushlight export llm"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import Console, Table, echo_json
from rushlight.cli.options import json_option, kilobytes, shown_progress
from rushlight.cli.values import FILE, PATH
from rushlight.llm.export_options import CACHES, DEFAULT_CONTEXT, DEFAULT_MAX_SEQ, RUNTIMES
from rushlight.llm.exporter import LlmReport, export
from rushlight.llm.products import WEIGHTS


@click.command("llm", epilog="Example: rushlight export llm smollm2.gguf -o smollm2.pte")
@click.argument("source", metavar="MODEL.gguf|DIRECTORY", type=PATH)
@click.option("-o", "--output", type=FILE, required=True, help="Program file (.pte) to write.")
@click.option(
    "--weights",
    type=click.Choice(WEIGHTS),
    help="Format of the weights; keep: the blocks of the GGUF file [default: keep for GGUF, else int4].",
)
@click.option(
    "--embeddings",
    type=click.Choice(WEIGHTS),
    help="Format of token embedding and logits [default: as --weights, int8 for int4].",
)
@click.option(
    "--context",
    type=int,
    metavar="N",
    help=f"Positions in the cache [default: the model's, at most {DEFAULT_CONTEXT}].",
)
@click.option(
    "--max-seq", type=int, metavar="N", help=f"Most tokens in one call [default: {DEFAULT_MAX_SEQ}]."
)
@click.option(
    "--cache",
    type=click.Choice(CACHES),
    default=CACHES[0],
    show_default=True,
    help="Dtype of the cached keys and values.",
)
@click.option(
    "--activations",
    "activation_bits",
    type=click.Choice(["16", "8"]),
    default="16",
    show_default=True,
    help="Bits of activations in products with int4 or int8 weights.",
)
@click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    default=RUNTIMES[0],
    show_default=True,
    help="Runtime whose operators to use; executorch: the operators that its Python package registers.",
)
@click.option(
    "--tokenizer",
    type=FILE,
    help="A tokenizer.json to use in place of the model's own.",
)
@json_option
def export_llm_command(
    source: Path, output: Path, activation_bits: str, as_json: bool, **options: Any
) -> None:
    """Turn a language model's files into one program.

    The program holds the tokenizer and the chat template, too. MODEL.gguf is a GGUF file; DIRECTORY has a
    model of Hugging Face (config.json and safetensors)."""
    with shown_progress() as progress:
        program = export(source, activation_bits=int(activation_bits), progress=progress, **options)
        program.save(output)
    if as_json:
        echo_json({**program.report.to_json(), "output": str(output)})
    else:
        _print(program.report, output)


def _print(report: LlmReport, output: Path) -> None:
    console, chosen = Console(), report.options
    table = Table("model", report.family, show_header=True)
    rows = {
        "parameters": f"{report.parameters / 1e6:,.1f} million, {report.layers} layers",
        "vocabulary": f"{report.vocabulary:,} tokens",
        "tokenizer": kilobytes(report.vocabulary_bytes) if report.vocabulary_bytes else "none",
        "weights": f"{chosen.weights}, embeddings {chosen.embeddings}",
        "context": f"{chosen.context:,} positions, at most {chosen.max_seq:,} tokens a call",
        "cache": f"{chosen.cache}, {kilobytes(report.cache_bytes)}",
        "other memory": kilobytes(report.planned_bytes - report.cache_bytes),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    for remark in report.remarks:
        console.print(remark)
    console.print(f"{output}: {kilobytes(report.file_bytes)}, in {report.seconds:.1f} s")
