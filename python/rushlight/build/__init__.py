# SPDX-License-Identifier: BSD-3-Clause
"""Builds runners. The module itself is callable: `rushlight.build("model.pte", target="cortex-m55")`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from rushlight.build.api import BuildRequest, build, check_requirements, refuse_delegates, run_request
from rushlight.build.result import BuildResult
from rushlight.build.sizes import Sizes

__all__ = [
    "BuildRequest",
    "BuildResult",
    "Sizes",
    "build",
    "check_requirements",
    "refuse_delegates",
    "run_request",
]


class _CallableModule(ModuleType):
    """`rushlight.build` is both the package and, as users write it, the function."""

    def __call__(self, *arguments: Any, **keywords: Any) -> BuildResult:
        return build(*arguments, **keywords)


sys.modules[__name__].__class__ = _CallableModule
