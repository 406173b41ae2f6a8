# SPDX-License-Identifier: BSD-3-Clause
"""Pages of reports show what files say, and run none of it."""

from __future__ import annotations

from rushlight.page import page, table


def test_titles_heads_and_cells_are_escaped() -> None:
    shown = page("<b>model</b>", [table(["<i>layer", "bytes"], [["<script>1</script>", 12345]])])
    assert "&lt;b&gt;model" in shown and "&lt;i&gt;layer" in shown and "&lt;script&gt;1" in shown
    assert "<script" not in shown and "<b>" not in shown and "<i>" not in shown
    assert "12,345" in shown
