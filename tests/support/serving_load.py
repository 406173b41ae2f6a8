# SPDX-License-Identifier: BSD-3-Clause
"""Load on a server: 8 clients ask, stream, disconnect and send invalid requests, all at once. Each answer
must equal the model's answer without load.

    python tests/support/serving_load.py 120     seconds; prints a count of each event
"""

from __future__ import annotations

import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from rushlight import llm
from support.serving import serving
from support.tiny_language_model import save_tiny_language_model
from support.tiny_vocabulary import add_texts

CLIENTS = 8
PROMPTS = ["thin", "an ant in a", "the", "er", "zoo!"]
SEEDS = range(6)
MAX_BODY = 4000


def body_of(prompt: str, seed: int, **others: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}], "seed": seed, "max_tokens": 20, **others}


def expected_texts(path: Path) -> dict[tuple[str, int], str]:
    """The model's answers without other requests."""
    model = llm.load(path, threads=1)
    return {
        (prompt, seed): model.generate([{"role": "user", "content": prompt}], seed=seed, max_tokens=20).read()
        for prompt in PROMPTS
        for seed in SEEDS
    }


class Client:
    """Sends requests until `end`; `seen` counts the outcomes."""

    def __init__(self, address: str, number: int, expected: dict[tuple[str, int], str]) -> None:
        self.url = f"{address}/v1/chat/completions"
        self.port = int(address.rpartition(":")[2])
        self.random = random.Random(number)
        self.expected = expected
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []

    def run(self, end: float) -> None:
        kinds = [self.whole, self.stream, self.broken_off, self.garbage, self.oversized, self.bad_field]
        with httpx.Client(timeout=60) as self.http:
            while time.monotonic() < end:
                (kind,) = self.random.choices(kinds, [6, 6, 2, 1, 1, 1])
                try:
                    kind()
                except Exception as error:
                    self.wrong.append(f"{kind.__name__}: {error!r}")

    def question(self) -> tuple[str, int]:
        return self.random.choice(PROMPTS), self.random.choice(SEEDS)

    def count(self, what: str, right: bool, detail: str = "") -> None:
        self.seen[what] += 1
        if not right:
            self.wrong.append(f"{what}: {detail}")

    def refused(self, answer: httpx.Response) -> bool:
        """True if the queue was full; checks that the answer says when to retry."""
        if answer.status_code != 503:
            return False
        self.count("queue full", "retry-after" in answer.headers)
        return True

    def whole(self) -> None:
        question = self.question()
        answer = self.http.post(self.url, json=body_of(*question))
        if not self.refused(answer):
            text = answer.json()["choices"][0]["message"]["content"]
            self.count("whole", text == self.expected[question], text)

    def stream(self) -> None:
        question = self.question()
        with self.http.stream("POST", self.url, json=body_of(*question, stream=True)) as answer:
            lines = [line for line in answer.iter_lines() if line]
        if self.refused(answer):
            return
        assert lines[-1] == "data: [DONE]", lines[-1]
        chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        self.count("streamed", text == self.expected[question], text)

    def broken_off(self) -> None:
        body = json.dumps(body_of(*self.question(), stream=self.random.random() < 0.5)).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        message = f"{head}Content-Type: application/json\r\n\r\n".encode() + body
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(message[: self.random.randrange(1, len(message) + 1)])
            time.sleep(self.random.choice([0, 0.001, 0.01, 0.1]))
        self.count("broken off", True)

    def garbage(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(self.random.randbytes(self.random.randrange(1, 3000)))
        self.count("garbage", True)

    def oversized(self) -> None:
        try:
            answer = self.http.post(self.url, json=body_of("x" * self.random.randrange(MAX_BODY, 10**6), 0))
            if not self.refused(answer):
                self.count("oversized", answer.status_code == 413, answer.text)
        except httpx.WriteError:  # the connection was closed before the whole body was sent
            self.count("oversized", True)

    def bad_field(self) -> None:
        field = self.random.choice(
            [{"n": 2}, {"temperature": "hot"}, {"messages": 1}, {"what": None, "is": 1}]
        )
        answer = self.http.post(self.url, json={**body_of("x", 0), **field})
        if not self.refused(answer):
            self.count("bad field", answer.status_code == 400, answer.text)


def run_load(path: Path, seconds: float, max_queue: int = 5) -> tuple[Counter[str], list[str]]:
    """Counts of the events, and the errors found."""
    expected = expected_texts(path)
    with serving(llm.load(path, threads=1), max_queue=max_queue, max_body=MAX_BODY) as address:
        clients = [Client(address, number, expected) for number in range(CLIENTS)]
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=client.run, args=(end,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        deadline = time.monotonic() + 10
        while (load := httpx.get(f"{address}/health").json()) != {"status": "ok", "running": 0, "waiting": 0}:
            assert time.monotonic() < deadline, load
            time.sleep(0.05)
    return sum((client.seen for client in clients), Counter()), [
        w for client in clients for w in client.wrong
    ]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.pte"
        save_tiny_language_model(path)
        add_texts(path)
        seen, wrong = run_load(path, seconds)
    print(dict(seen))
    for line in wrong[:20]:
        print("wrong:", line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
