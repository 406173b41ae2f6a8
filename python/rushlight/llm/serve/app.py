# SPDX-License-Identifier: BSD-3-Clause
"""The ASGI application: routes, and the conversion of requests to answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rushlight.llm.serve.answers import Form, model_entry
from rushlight.llm.serve.bodies import check_host, check_key, read_body
from rushlight.llm.serve.errors import ApiError
from rushlight.llm.serve.fields import Asked, read_chat, read_completion
from rushlight.llm.serve.settings import Settings
from rushlight.llm.serve.worker import Begun, Ended, Job, Text, Worker
from rushlight.llm.text_model import TextModel

Log = Callable[[str], None]
Handler = Callable[[Request], Awaitable[Response]]


class _Gone(Exception):
    """The client has closed its connection."""


def make_app(model: TextModel, settings: Settings, log: Log = lambda line: None) -> Starlette:
    """The ASGI application of a model, which must have no other user meanwhile. `log` is called with a line
    for each answer."""
    service = _Service(model, settings, log)
    return Starlette(
        routes=[
            Route("/health", service.guarded(service.health, needs_key=False), methods=["GET"]),
            Route("/v1/models", service.guarded(service.models), methods=["GET"]),
            Route("/v1/models/{name:path}", service.guarded(service.model), methods=["GET"]),
            Route("/v1/chat/completions", service.guarded(service.chat), methods=["POST"]),
            Route("/v1/completions", service.guarded(service.completion), methods=["POST"]),
        ],
        exception_handlers={ApiError: _error_response, HTTPException: _http_error_response},
        lifespan=service.lifespan,
    )


class _Service:
    def __init__(self, model: TextModel, settings: Settings, log: Log) -> None:
        self._settings = settings
        self._worker = Worker(model, settings.max_queue)
        self._created = int(time.time())
        self._log = log

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self._worker.start()
        try:
            yield
        finally:
            await asyncio.to_thread(self._worker.stop)

    def guarded(self, handler: Handler, *, needs_key: bool = True) -> Handler:
        """Wraps the handler with the checks of host and key."""

        async def checked(request: Request) -> Response:
            check_host(request, self._settings)
            if needs_key:
                check_key(request, self._settings)
            try:
                return await handler(request)
            except (_Gone, ClientDisconnect):
                return Response(status_code=499)  # the client is gone

        return checked

    async def health(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok", **self._worker.load})

    async def models(self, _request: Request) -> Response:
        entry = model_entry(self._settings.name, self._created)
        return JSONResponse({"object": "list", "data": [entry]})

    async def model(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name != self._settings.name:
            raise ApiError(404, f"model: expected '{self._settings.name}', got {name!r:.80}", param="model")
        return JSONResponse(model_entry(name, self._created))

    async def chat(self, request: Request) -> Response:
        asked = read_chat(await self._body(request), self._settings)
        return await self._answer(request, asked, Form(self._settings.name, is_chat=True))

    async def completion(self, request: Request) -> Response:
        asked = read_completion(await self._body(request), self._settings)
        return await self._answer(request, asked, Form(self._settings.name, is_chat=False))

    async def _body(self, request: Request) -> Any:
        """The JSON of a request; a full queue is reported before a body takes memory."""
        self._worker.check_queue()
        return await read_body(request, self._settings)

    async def _answer(self, request: Request, asked: Asked, form: Form) -> Response:
        job = Job(asked)
        self._worker.submit(job)
        response: Response | None = None
        try:
            begun = await _unless_gone(request, job.next_event())
            if isinstance(begun, ApiError):
                raise begun
            assert isinstance(begun, Begun)
            if asked.stream:
                response = _Stream(self._events(job, form), lambda: self._worker.cancel(job))
                return response
            return JSONResponse(await _unless_gone(request, self._whole(job, form)))
        finally:
            if response is None:
                self._worker.cancel(job)

    async def _whole(self, job: Job, form: Form) -> dict[str, Any]:
        parts: list[str] = []
        while True:
            event = await job.next_event()
            if isinstance(event, Text):
                parts.append(event.text)
            elif isinstance(event, Ended):
                self._log(f"{form.id}: {event.statistics}")
                return form.whole("".join(parts), event.reason, event.statistics)
            elif isinstance(event, ApiError):
                raise event

    async def _events(self, job: Job, form: Form) -> AsyncIterator[str]:
        """The answer as server-sent events."""
        async for content in self._chunks(job, form):
            yield f"data: {json.dumps(content, separators=(',', ':'))}\n\n"
        yield "data: [DONE]\n\n"

    async def _chunks(self, job: Job, form: Form) -> AsyncIterator[dict[str, Any]]:
        if (first := form.first()) is not None:
            yield first
        while True:
            event = await job.next_event()
            if isinstance(event, Text):
                yield form.piece(event.text)
            elif isinstance(event, ApiError):
                yield event.to_json()
                return
            elif isinstance(event, Ended):
                self._log(f"{form.id}: {event.statistics}")
                yield form.last(event.reason)
                if job.asked.include_usage:
                    yield form.usage(event.statistics)
                return


class _Stream(StreamingResponse):
    """A response of server-sent events; `closed` is called after the last one, or when the client
    disconnects."""

    def __init__(self, events: AsyncIterator[str], closed: Callable[[], None]) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._closed()


async def _unless_gone(request: Request, result: Awaitable[Any]) -> Any:
    """The result. Raises _Gone if the client disconnects first; the body must have been read."""
    task = asyncio.ensure_future(result)
    gone = asyncio.ensure_future(_disconnect(request))
    try:
        done, _ = await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task not in done:
            raise _Gone
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _error_response(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.to_json(), status_code=error.status, headers=error.headers)


async def _http_error_response(_request: Request, error: Exception) -> Response:
    """Answers requests for unknown paths and methods."""
    assert isinstance(error, HTTPException)
    shown = ApiError(error.status_code, error.detail, code="no_such_path")
    return JSONResponse(shown.to_json(), status_code=error.status_code, headers=error.headers)
