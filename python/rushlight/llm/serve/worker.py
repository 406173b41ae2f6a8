# SPDX-License-Identifier: BSD-3-Clause
"""One thread that generates for requests in order of arrival, with a bounded queue."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from dataclasses import dataclass

from rushlight.llm.generation import FinishReason
from rushlight.llm.serve.errors import ApiError
from rushlight.llm.serve.fields import Asked
from rushlight.llm.statistics import Statistics
from rushlight.llm.text_model import TextModel


@dataclass(frozen=True)
class Begun:
    """The prompt was accepted and is being evaluated."""


@dataclass(frozen=True)
class Text:
    """A piece of text, not empty."""

    text: str


@dataclass(frozen=True)
class Ended:
    """The last event of a job."""

    reason: FinishReason
    statistics: Statistics


Event = Begun | Text | Ended | ApiError


class Job:
    """A request in the queue; read its events() on the event loop that created it."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.is_cancelled = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    def put(self, event: Event) -> None:
        """Adds an event, from any thread. Events for a closed loop are dropped."""
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
        except RuntimeError:
            self.is_cancelled.set()

    async def next_event(self) -> Event:
        return await self._events.get()


class Worker:
    """Owns the model between start() and stop()."""

    def __init__(self, model: TextModel, max_queue: int) -> None:
        self._model = model
        self._max_queue = max_queue
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._changed = threading.Condition()
        self._is_stopping = False
        self._seconds = 1.0  # per request, a running mean
        self._thread = threading.Thread(target=self._work, name="rushlight-serve", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Cancels all requests, between two tokens, and joins the thread."""
        with self._changed:
            self._is_stopping = True
            jobs = [*self._waiting, *([self._running] if self._running else [])]
            self._waiting.clear()
            self._changed.notify_all()
        for job in jobs:
            job.is_cancelled.set()
            job.put(ApiError(503, "the server is shutting down", code="shutting_down"))
        self._thread.join()

    def submit(self, job: Job) -> None:
        """Adds a job to the queue. Error: ApiError 503 with the time to wait if the queue is full."""
        with self._changed:
            self.check_queue()
            self._waiting.append(job)
            self._changed.notify_all()

    def check_queue(self) -> None:
        """Error: ApiError 503 if the queue is full or the server stops."""
        with self._changed:
            if self._is_stopping:
                raise ApiError(503, "the server is shutting down", code="shutting_down")
            is_busy = self._running is not None or bool(self._waiting)
            if is_busy and len(self._waiting) >= self._max_queue:
                seconds = max(1, round(self._seconds))
                raise ApiError(
                    503,
                    f"{len(self._waiting)} requests are waiting, the maximum; try again in {seconds} s",
                    code="queue_full",
                    headers={"Retry-After": str(seconds)},
                )

    def cancel(self, job: Job) -> None:
        """Cancels a job: it leaves the queue, or ends after its next token."""
        job.is_cancelled.set()
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)

    @property
    def load(self) -> dict[str, int]:
        """The number of running and of waiting requests."""
        with self._changed:
            return {"running": int(self._running is not None), "waiting": len(self._waiting)}

    def _work(self) -> None:
        while (job := self._take()) is not None:
            try:
                self._generate(job)
            except Exception as error:  # the thread survives for the next request
                job.put(ApiError.of(error))
            finally:
                with self._changed:
                    self._running = None

    def _take(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopping)
            if self._is_stopping:
                return None
            self._running = self._waiting.popleft()
            return self._running

    def _generate(self, job: Job) -> None:
        generation = self._model.start(job.asked.prompt, job.asked.options)
        try:
            job.put(Begun())
            while generation.finish_reason is None and not job.is_cancelled.is_set():
                if (piece := generation.step()) is not None and piece.text:
                    job.put(Text(piece.text))
        finally:
            generation.close()
        assert generation.finish_reason is not None
        statistics = generation.statistics
        took = statistics.prefill_seconds + statistics.decode_seconds
        self._seconds += (took - self._seconds) / 8
        job.put(Ended(generation.finish_reason, statistics))
