# SPDX-License-Identifier: BSD-3-Clause
"""A language model behind OpenAI's HTTP interface, for `pip install 'rushlight[serve]'`."""

from rushlight.errors import MissingDependency

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as missing:
    raise MissingDependency(missing.name or "starlette", "serve") from missing

from rushlight.llm.serve.app import make_app
from rushlight.llm.serve.server import serve
from rushlight.llm.serve.settings import Settings

__all__ = ["Settings", "make_app", "serve"]
