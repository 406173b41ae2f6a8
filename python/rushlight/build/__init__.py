# SPDX-License-Identifier: BSD-3-Clause
"""Builds runners. The module itself is callable: `rushlight.build("model.pte", target="cortex-m55")`."""

from __future__ import annotations

from rushlight.build.api import build, existing_libraries, refuse_delegates
from rushlight.build.pipeline import alone_in, read_selection, run_request
from rushlight.build.request import RUNNER, BakedModel, BuildRequest
from rushlight.build.result import BuildResult
from rushlight.build.sizes import Sizes
from rushlight.callable_module import make_callable

__all__ = [
    "RUNNER",
    "BakedModel",
    "BuildRequest",
    "BuildResult",
    "Sizes",
    "alone_in",
    "build",
    "existing_libraries",
    "read_selection",
    "refuse_delegates",
    "run_request",
]

make_callable(__name__)
