# SPDX-License-Identifier: BSD-3-Clause
"""Makes packages callable as their main function: `rushlight.build(...)`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **keywords)


def make_callable(name: str) -> None:
    """Makes a call of the package `name` call its function of the same name."""
    sys.modules[name].__class__ = _CallableModule
