# SPDX-License-Identifier: BSD-3-Clause
"""rushlight serve"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, echo, styled
from rushlight.cli.text_options import loaded, threads_option
from rushlight.cli.values import FILE


@click.command("serve", epilog="Example: rushlight serve smollm2.pte --port 8080")
@click.argument("model", type=FILE)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, help="Port to listen on; 0: any free port.")
@click.option("--name", help="Name of the model for clients [default: the file's].")
@click.option("--max-tokens", type=int, help="Most tokens in an answer [default: the context].")
@click.option("--max-body", default=1 << 20, show_default=True, help="Most bytes in a request.")
@click.option("--queue", "max_queue", default=32, show_default=True, help="Most waiting requests.")
@click.option(
    "--api-key",
    envvar="RUSHLIGHT_API_KEY",
    help="Key that clients must send. Set RUSHLIGHT_API_KEY instead to keep it out of process lists.",
)
@threads_option
def serve_command(
    model: Path,
    host: str,
    port: int,
    name: str | None,
    max_tokens: int | None,
    max_body: int,
    max_queue: int,
    api_key: str | None,
    threads: int | None,
) -> None:
    """Serve a language model over OpenAI's HTTP API.

    MODEL is a .pte of `rushlight export llm`. The server answers /v1/chat/completions, /v1/completions (both
    with streaming, too), /v1/models and /health, one request at a time. Ctrl-C stops the server; running
    answers get ten more seconds."""
    from rushlight.llm.serve import Settings, serve

    settings = Settings(
        name=name or model.stem,
        host=host,
        port=port,
        max_tokens=max_tokens,
        max_body=max_body,
        max_queue=max_queue,
        api_key=api_key,
    )
    notes = Console(stderr=True)
    if not settings.is_loopback and api_key is None:
        notes.print(
            styled("warning:", "bold yellow"),
            f"anyone who can reach {host} can use the model; set --api-key",
        )
    serve(
        loaded(model, threads),
        settings,
        listening=lambda address: echo(f"serving {settings.name} at {address}/v1"),
        log=lambda line: notes.print(styled(line, "dim")),
    )
