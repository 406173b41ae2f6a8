# SPDX-License-Identifier: BSD-3-Clause
"""rushlight serve"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, echo, styled
from rushlight.cli.text_options import loaded, threads_option


@click.command("serve")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, help="Port to listen on; 0: any that is free.")
@click.option("--name", help="The model's name for clients [default: the file's].")
@click.option("--max-tokens", type=int, help="Tokens of one answer at most [default: the context].")
@click.option("--max-body", default=1 << 20, show_default=True, help="Bytes of one request at most.")
@click.option("--queue", "max_queue", default=32, show_default=True, help="Requests that may wait.")
@click.option(
    "--api-key",
    envvar="RUSHLIGHT_API_KEY",
    help="Key that clients must give; the variable RUSHLIGHT_API_KEY keeps it out of lists of processes.",
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
    """Answer OpenAI's requests with the language model in MODEL (a .pte): /v1/chat/completions,
    /v1/completions and /v1/models, streaming and not, and /health. Requests are answered one after another.
    Ctrl-C ends the server; answers that have begun get ten seconds."""
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
            f"everybody who reaches {host} can use the model: see --api-key",
        )
    serve(
        loaded(model, threads),
        settings,
        listening=lambda address: echo(f"serving {settings.name} at {address}/v1"),
        log=lambda line: notes.print(styled(line, "dim")),
    )
