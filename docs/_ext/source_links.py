# SPDX-License-Identifier: BSD-3-Clause
"""Links from pages to files and folders of the checkout that are no pages.

Each linked file becomes a page of the site with its highlighted text, each linked folder the page of its
README or index, or a list of its files. A link to a missing file stays as it is, and MyST warns of it.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from generated import noted
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PREFIX = "files/"
_KIND = "source-links"
_LEXERS = {".h": "cpp", ".cpp": "cpp", ".inl": "cpp", ".py": "python", ".yaml": "yaml", ".json": "json"}
_LEXERS |= {".cmake": "cmake", ".txt": "cmake", ".md": "markdown", ".ld": "none", ".sh": "sh"}
_LARGEST = 200_000


class SourceLinks(SphinxTransform):
    """Gives such a link its path in the checkout; its address follows when the page is written."""

    default_priority = 20

    def apply(self) -> None:
        for link in list(self.document.findall(_is_link)):
            path, _, anchor = link["reftarget"].partition("#")
            _, absolute = self.env.relfn2path(path, self.env.docname)
            if path and Path(absolute).exists():
                self._replace(link, os.path.relpath(absolute, self.env.srcdir), anchor)

    def _replace(self, link: nodes.Element, path: str, anchor: str) -> None:
        page = self._page(path)
        new: nodes.Element
        if page is None:
            new = nodes.reference("", "", internal=True, source_path=path)
            self.env.metadata[self.env.docname].setdefault(_KIND, set()).add(path)
        else:
            new = addnodes.pending_xref(
                refdomain="doc",
                reftarget=page,
                reftargetid=anchor or None,
                refdoc=self.env.docname,
                reftype="myst",
                refexplicit=True,
            )
        new += [child.deepcopy() for child in link.children]
        link.replace_self(new)

    def _page(self, path: str) -> str | None:
        if path == "README.md":
            return str(self.config.root_doc)
        pages = [f"{path}/README", f"{path}/index"]
        return next((page for page in pages if page in self.env.found_docs), None)


def _is_link(node: nodes.Node) -> bool:
    if isinstance(node, addnodes.download_reference):
        return bool(node.get("reftype") == "myst")
    is_reference = isinstance(node, addnodes.pending_xref) and node["reftype"] == "myst"
    return is_reference and not node["refdomain"]


def _resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for link in doctree.findall(nodes.reference):
        if "source_path" in link:
            link["refuri"] = app.builder.get_relative_uri(docname, PREFIX + link["source_path"])


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The pages of all linked files and folders."""
    paths = noted(app.env, _KIND)
    for path in sorted(paths):
        absolute = Path(app.srcdir) / path
        body = _listing(app, absolute, path, paths) if absolute.is_dir() else _text(app, absolute)
        title = f"<h1>{html.escape(path)}</h1>\n"
        yield PREFIX + path, {"title": html.escape(path), "body": title + body}, "page.html"


def _text(app: Sphinx, path: Path) -> str:
    """The highlighted text of a file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if "\0" in text or len(text) > _LARGEST:
        return f"<p>{path.stat().st_size:,} bytes; see the checkout.</p>"
    lexer = "cmake" if path.name == "CMakeLists.txt" else _LEXERS.get(path.suffix, "none")
    if path.suffix == ".txt" and path.name != "CMakeLists.txt":
        lexer = "none"
    highlighter = app.builder.highlighter  # type: ignore[attr-defined]
    return str(highlighter.highlight_block(text, lexer, force=True))


def _listing(app: Sphinx, folder: Path, path: str, paths: set[str]) -> str:
    """The names in a folder, as links where a page exists."""
    items = []
    for entry in sorted(folder.iterdir(), key=lambda each: (each.is_file(), each.name)):
        if entry.name.startswith((".", "__")):
            continue
        name = html.escape(entry.name + ("/" if entry.is_dir() else ""))
        if f"{path}/{entry.name}" in paths:
            address = app.builder.get_relative_uri(PREFIX + path, f"{PREFIX}{path}/{entry.name}")
            name = f'<a class="reference internal" href="{address}">{name}</a>'
        items.append(f"<li><p>{name}</p></li>")
    return '<ul class="simple">' + "\n".join(items) + "</ul>"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(SourceLinks)
    app.connect("doctree-resolved", _resolve)
    app.connect("html-collect-pages", _pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
