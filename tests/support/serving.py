# SPDX-License-Identifier: BSD-3-Clause
"""A server of a language model in a thread of this process."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx

from rushlight import Program
from rushlight.llm import TextModel
from rushlight.llm.serve import Settings
from rushlight.llm.serve.server import address_of, bound_socket, make_server


class SlowModel(TextModel):
    """Takes at least `seconds` for each token, and waits for `gate`."""

    seconds = 0.0

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.gate = threading.Event()
        self.gate.set()

    def native_step(self) -> tuple[bytes, int | None, float, int]:
        self.gate.wait()
        time.sleep(self.seconds)
        return super().native_step()


@contextlib.contextmanager
def serving(model: TextModel, **settings: Any) -> Iterator[str]:
    """The address of a server for the model; it ends with the context."""
    chosen = Settings(name="tiny", port=0, **settings)
    with bound_socket(chosen) as bound:
        server = make_server(model, chosen)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            address = address_of(bound, chosen)
            wait_until(lambda: httpx.get(f"{address}/health").status_code == 200)
            yield address
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive(), "the server has not ended"


def wait_until(condition: Any, seconds: float = 10) -> None:
    """Fails if the condition does not become true in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)
