# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of examples/, imported as their commands import them."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from support.environments import ROOT


def script(example: str, name: str) -> ModuleType:
    """examples/EXAMPLE/NAME.py. Scripts of an example import each other by their bare names; these are
    forgotten afterwards, as examples share names."""
    folder = ROOT / "examples" / example
    others = {path.stem: sys.modules.pop(path.stem, None) for path in folder.glob("*.py")}
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for stem, module in others.items():
            sys.modules.pop(stem, None)
            if module is not None:
                sys.modules[stem] = module
