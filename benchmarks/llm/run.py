# SPDX-License-Identifier: BSD-3-Clause
"""Compares the speed of a language model with llama.cpp, ONNX Runtime GenAI and the official runtime.

    python tests/conformance/models/fetch.py smollm2
    python benchmarks/llm/run.py --peers PYTHON                  # one thread and two
    python benchmarks/llm/run.py --cpu avx2 --peers PYTHON       # ours with AVX2 alone; peers as built
    python benchmarks/llm/run.py --peers PYTHON --write          # and into README.md

The model is SmolLM2-135M-Instruct in Q4_1, whose weights rushlight and llama.cpp use unchanged. --genai
names a folder of ONNX Runtime GenAI's model builder, --official a program of the official exporter: their
weights are quantized again, to as many bits. Contestants alternate, each round in a separate process with
nothing else running; each value is the best of the rounds. Memory bandwidth is measured before each round,
on as many threads.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))

from generators import ANSWER, PROMPT, SHORT_PROMPT
from machine import cpu, cpus_for
from rich.console import Console

from rushlight import process
from rushlight.errors import RushlightError
from support import written
from support.real_models.wheels import paths

HERE = Path(__file__).parent
BIGGER_IS_BETTER = ("decode", "prefill")


@dataclass(frozen=True)
class Entry:
    """A contestant: its name, the Python interpreter that has its package, and its model."""

    name: str
    python: str
    model: Path


def bandwidth(folder: Path, threads: int) -> float:
    """Gigabytes a second that `threads` threads read from memory."""
    program = folder / "bandwidth"
    if not program.exists():
        command = ["g++", "-O3", "-march=native", "-std=c++17", "-pthread", HERE / "bandwidth.cpp"]
        process.run([*command, "-o", program], check=True, timeout=120)
    result = process.run(pinned([program, str(threads)], threads), check=True, timeout=120)
    return float(json.loads(result.stdout)["gigabytes"])


def pinned(command: list[Any], threads: int) -> list[Any]:
    """The command, pinned to `threads` CPUs."""
    cpus = ",".join(map(str, cpus_for(threads)))
    return ["taskset", "-c", cpus, *command] if process.find_program("taskset") else command


def a_round(entry: Entry, threads: int, variant: str | None) -> dict[str, Any]:
    """The results of one round of a contestant, or {"missing": reason}."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    if variant is not None and entry.name == "rushlight":
        environment["RUSHLIGHT_CPU"] = variant
    command = [entry.python, HERE / "generators.py", entry.name, entry.model, str(threads)]
    try:
        result = process.run(pinned(command, threads), check=True, timeout=600, env=environment)
        found: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
        return found
    except (RushlightError, ValueError, IndexError) as error:
        return {"missing": str(error).strip().splitlines()[-1]}


def best(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The best values over the rounds, and the relative standard deviation of the decoding speed."""
    good = [each for each in rounds if "missing" not in each]
    if not good:
        return rounds[0]
    found: dict[str, Any] = {"version": good[0]["version"], "answer": good[0]["answer"]}
    for key in ("load", "first", "decode", "prefill", "peak", "bandwidth"):
        values = [each[key] for each in good]
        found[key] = max(values) if key in (*BIGGER_IS_BETTER, "bandwidth") else min(values)
    found["spread"] = statistics.pstdev([each["decode"] for each in good]) / found["decode"]
    return found


def compete(
    entries: list[Entry], threads: int, rounds: int, variant: str | None
) -> dict[str, dict[str, Any]]:
    """The best values of each contestant on `threads` threads."""
    all_rounds: dict[str, list[dict[str, Any]]] = {entry.name: [] for entry in entries}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for entry in entries[number % len(entries) :] + entries[: number % len(entries)]:
                measured = bandwidth(Path(folder), threads)
                all_rounds[entry.name].append(a_round(entry, threads, variant) | {"bandwidth": measured})
                print(f"{threads} thread(s), round {number + 1} of {rounds}: {entry.name}", file=sys.stderr)
    return {name: best(found) for name, found in all_rounds.items()}


def weight_bytes(model: Path) -> int:
    """Bytes of weights that each token reads: all but the tables of the rotary embedding, approximately the
    file."""
    return model.stat().st_size


def table(results: dict[int, dict[str, dict[str, Any]]], read: int) -> str:
    """The results as Markdown, with ratios to rushlight's."""
    lines = [
        "| threads | | decode, tokens/s | of bandwidth | prefill, tokens/s | first token, s | peak, MB |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for threads, found in results.items():
        ours = found["rushlight"]
        for name, each in found.items():
            if "missing" in each:
                lines.append(f"| {threads} | {name} | {each['missing']} | | | | |")
                continue
            share = f"{each['decode'] * read / 1e9 / each['bandwidth']:.0%}" if name == "rushlight" else ""
            ratio = {key: ours[key] / each[key] for key in BIGGER_IS_BETTER}
            beside = {
                key: "" if name == "rushlight" else f" (we {value:.2f}×)" for key, value in ratio.items()
            }
            decode = f"{each['decode']:.0f}{beside['decode']} | {share}"
            prefill = f"{each['prefill']:.0f}{beside['prefill']}"
            rest = f"{each['first']:.2f} | {each['peak'] / 1e6:.0f}"
            lines.append(f"| {threads} | {name} | {decode} | {prefill} | {rest} |")
    return "\n".join(lines)


def page(results: dict[int, dict[str, dict[str, Any]]], read: int, variant: str | None, rounds: int) -> str:
    """The text of a run for README.md: machine, versions and table."""
    machine = cpu()
    versions = {name: each.get("version", "") for found in results.values() for name, each in found.items()}
    speeds = ", ".join(
        f"{threads}: {found['rushlight']['bandwidth']:.1f} GB/s" for threads, found in results.items()
    )
    return (
        f"{machine['cpu']} {machine['number']}, {', '.join(machine['features'])}; ours with "
        f"{variant or 'the best variant'}. Best of {rounds} rounds. Prefill is of {PROMPT} tokens, decoding "
        f"of {ANSWER} behind {SHORT_PROMPT}; the first token is that of {SHORT_PROMPT} in a new process, "
        f"loading included. Memory bandwidth by threads: {speeds}.\n\n{table(results, read)}\n\n"
        + "; ".join(version for version in versions.values() if version)
    )


def main() -> int:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peers", default=sys.executable, help="the Python interpreter that has the peers' packages"
    )
    parser.add_argument("--genai", type=Path, help="a folder of ONNX Runtime GenAI's model builder")
    parser.add_argument(
        "--official", type=Path, help="a program of the official exporter; needs executorch here"
    )
    parser.add_argument("--gguf", type=Path, default=paths("smollm2")[0], help="other weights")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", help="the variant of our kernels, as RUSHLIGHT_CPU names it")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "model.pte"
        from rushlight import llm

        llm.export(options.gguf).save(program)
        entries = [
            Entry("rushlight", sys.executable, program),
            Entry("llama.cpp", options.peers, options.gguf),
        ]
        if options.genai:
            entries.append(Entry("onnxruntime-genai", options.peers, options.genai))
        if options.official:
            entries.append(Entry("executorch", sys.executable, options.official))
        results = {
            threads: compete(entries, threads, options.rounds, options.cpu) for threads in options.threads
        }
        read = weight_bytes(program)
    if options.json:
        print(json.dumps({"machine": cpu(), "results": results}, indent=1))
        return 0
    text = page(results, read, options.cpu, options.rounds)
    Console(highlight=False, markup=False).print(text)
    if options.write:
        written.write(HERE / "README.md", f"speed-{options.cpu or 'best'}", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
