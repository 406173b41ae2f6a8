# SPDX-License-Identifier: BSD-3-Clause
"""Pages as test parameters: each with the markers of the targets that its commands name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from support.boards import marker, need
from support.page_blocks import ROOT, Block, blocks
from support.page_run import named_targets, run_page


def cases(pages: Iterable[Path]) -> list[Any]:
    """A parameter for each page that has blocks."""
    return [_case(page, page.relative_to(ROOT).as_posix()) for page in pages if blocks(page.read_text())]


def _case(page: Path, name: str) -> Any:
    others = sorted(named_targets(blocks(page.read_text())) - {"host"})
    marks = [marker(other) for other in others] + [pytest.mark.device] * bool(others)
    return pytest.param(page, id=name, marks=marks)


def check_page(page: Path, found: list[Block], scratch: Path) -> None:
    """Runs the page's blocks in an empty folder; skips where a target is missing."""
    for name in sorted(named_targets(found) - {"host"}):
        need(name)
    folder = scratch / "page"
    folder.mkdir()
    run_page(page.relative_to(ROOT).as_posix(), found, folder)
