# SPDX-License-Identifier: BSD-3-Clause
"""Python's collector of cycles, told to wait."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection of cycles meanwhile. Tracing makes millions of objects that live on, and looking through
    them again and again takes a third of the time of an export."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
