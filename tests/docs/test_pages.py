# SPDX-License-Identifier: BSD-3-Clause
"""Each page of docs/ does what it says: its blocks run in order in a fresh folder, by README.md's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_blocks import ROOT, blocks, pages
from support.page_cases import cases, check_page

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("page", cases(page for page in pages() if page.is_relative_to(ROOT / "docs")))
def test_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    check_page(page, blocks(page.read_text()), tmp_path)
