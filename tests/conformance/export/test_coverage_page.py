# SPDX-License-Identifier: BSD-3-Clause
"""docs/exporting.md has the counts of misses.yaml."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from support import written
from support.export import coverage

pytestmark = pytest.mark.conformance


def test_the_page_counts_what_is_missing() -> None:
    [part] = [part for part in written.parts(coverage.PAGE.read_text()) if part.name == "coverage"]
    assert part.text == coverage.text(), "run python tests/conformance/export/coverage_page.py"
