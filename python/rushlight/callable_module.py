# SPDX-License-Identifier: BSD-3-Clause
"""Packages that are called like the function they are about: `rushlight.build(...)`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **keywords)


def make_callable(name: str) -> None:
    """Calling the package `name` calls the function in it of the package's own name."""
    sys.modules[name].__class__ = _CallableModule
