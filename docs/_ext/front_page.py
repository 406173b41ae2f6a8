# SPDX-License-Identifier: BSD-3-Clause
"""Writes index.html at the top of the site: it leads to the front page, which is docs/index.html."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>rushlight</title>
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">rushlight's documentation</a></p>
</html>
"""


def _write(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        address = app.builder.get_target_uri(app.config.root_doc)
        (Path(app.outdir) / "index.html").write_text(_PAGE.format(address=address))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
