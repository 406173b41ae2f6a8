# SPDX-License-Identifier: BSD-3-Clause
"""Pages of reports show texts from files as text, run only their own script, and sort by column."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rushlight.page import Cell, page, table

BROWSER = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)


def test_titles_heads_and_cells_are_escaped() -> None:
    cells = ["<script>1</script>", 12345, Cell("<u>", hint='"><script>2</script>')]
    shown = page("<b>model</b>", [table(["<i>layer", "bytes", "x"], [cells], caption="<s>")])
    assert "&lt;b&gt;model" in shown and "&lt;i&gt;layer" in shown and "&lt;script&gt;1" in shown
    assert "<b>" not in shown and "<i>" not in shown and "<u>" not in shown and "<s>" not in shown
    assert shown.count("<script") == 1 and 'title="&quot;&gt;&lt;script&gt;2' in shown
    assert "12,345" in shown


def test_the_policy_allows_the_script_of_the_page_alone() -> None:
    shown = page("model", [])
    script = re.search("<script>(.*)</script>", shown, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in shown
    assert "://" not in shown and "url(" not in shown and "@import" not in shown


def test_columns_of_numbers_are_aligned_and_have_values_to_sort_by() -> None:
    shown = table(
        ["name", "bytes", "share", "mixed", "status"],
        [["a", 1200, "1.5 %", "1", Cell("ok", kind="good")], ["b", 30, "", "x", Cell("no", kind="bad")]],
        bars=["bytes"],
    )
    assert re.findall('<th( class="n")? scope', shown) == ["", ' class="n"', ' class="n"', "", ""]
    assert 'class="n bar" data-value="1200" style="--share:1.000"' in shown
    assert 'data-value="30" style="--share:0.025"' in shown and 'data-value="1.5"' in shown
    assert shown.count("data-value") == 3


@pytest.mark.heavy
@pytest.mark.skipif(BROWSER is None, reason="chromium is missing")
def test_a_click_on_a_column_sorts_its_rows(tmp_path: Path) -> None:
    rows = [["b10", 5], ["b9", 30], ["a", ""], ["c", 1200]]
    ask = """
const heads = [...document.querySelectorAll("th button")], seen = [];
for (const click of [1, 1, 0, 0]) {
  heads[click].click();
  seen.push([...document.querySelectorAll("tbody tr")].map((row) => row.cells[0].textContent));
}
document.body.dataset.seen = JSON.stringify(seen);
"""
    shown = page("model", [table(["name", "bytes"], rows)])
    shown = re.sub("<meta http-equiv[^>]*>", "", shown).replace("</body>", f"<script>{ask}</script></body>")
    (tmp_path / "page.html").write_text(shown)
    words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
    dom = subprocess.run(
        [str(BROWSER), *words, f"file://{tmp_path}/page.html"], capture_output=True, text=True, timeout=60
    )
    found = re.search('data-seen="([^"]*)"', dom.stdout)
    assert found is not None, dom.stderr
    assert json.loads(found[1].replace("&quot;", '"')) == [
        ["c", "b9", "b10", "a"],  # numbers fall first; empty cells are last
        ["b10", "b9", "c", "a"],
        ["a", "b9", "b10", "c"],
        ["c", "b10", "b9", "a"],
    ]
