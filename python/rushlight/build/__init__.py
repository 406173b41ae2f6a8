# SPDX-License-Identifier: BSD-3-Clause
"""Builds runners. The module itself is callable: `rushlight.build("model.pte", target="cortex-m55")`."""

from __future__ import annotations

from rushlight.build.api import (
    BuildRequest,
    build,
    existing_libraries,
    refuse_delegates,
    run_request,
)
from rushlight.build.result import BuildResult
from rushlight.build.sizes import Sizes
from rushlight.callable_module import make_callable

__all__ = [
    "BuildRequest",
    "BuildResult",
    "Sizes",
    "build",
    "existing_libraries",
    "refuse_delegates",
    "run_request",
]

make_callable(__name__)
