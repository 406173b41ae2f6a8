# SPDX-License-Identifier: BSD-3-Clause
"""The READMEs of the checkout, its examples and benchmarks do what they say, by README.md's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_blocks import blocks, pages
from support.page_cases import cases, check_page

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("page", cases(page for page in pages() if page.name == "README.md"))
def test_blocks_of_a_readme_run(page: Path, tmp_path: Path) -> None:
    check_page(page, blocks(page.read_text()), tmp_path)
