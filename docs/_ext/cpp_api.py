# SPDX-License-Identifier: BSD-3-Clause
"""`cpp-folder NAME`: what the headers of a folder declare, with their comments, as Doxygen reads them."""

from __future__ import annotations

import re
from pathlib import Path

import docstrings
import doxygen
from generated import ROOT, Generated, directive, noted
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)
_KIND = "cpp-folder"
_RUNTIME = "runtime"
_PAGES = ROOT / "docs" / "reference" / "cpp"
_headers: dict[str, doxygen.Header] = {}


class CppFolder(Generated):
    """The headers of a folder: a section each, with how to include it."""

    def markdown(self, argument: str) -> str:
        self.note(_KIND, argument)
        headers = [header for path, header in sorted(_headers.items()) if Path(path).parent == Path(argument)]
        # The header that the folder is named after comes first.
        headers.sort(key=lambda header: Path(header.path).stem != Path(argument).name)
        if not headers:
            raise ValueError(f"{_KIND}: expected a folder with headers, got {argument}")
        return "\n".join(part for header in headers for part in _header(header))


def _header(header: doxygen.Header) -> list[str]:
    parts = [f"## {Path(header.path).name}", "", f'```cpp\n#include "{header.path}"\n```', ""]
    parts.append(docstrings.markdown(header.comment, "cpp"))
    namespace = ""
    for each in header.declarations:
        if each.kind != "define" and each.namespace != namespace:
            namespace = each.namespace
            parts.append(f"```{{cpp:namespace}} {namespace or 'NULL'}\n```\n")
        parts.append(_declaration(each))
    return parts


def _declaration(each: doxygen.Declaration) -> str:
    text = docstrings.markdown(each.comment, "cpp") if each.comment else ""
    if each.kind == "define":
        return directive("c:macro", each.text, text)
    members = "\n".join(_declaration(member) for member in each.members)
    return directive(f"cpp:{each.kind}", each.text, f"{text}\n{members}")


def _folders() -> list[str]:
    """The folders that pages name."""
    texts = [page.read_text() for page in sorted(_PAGES.glob("*.md"))]
    return [name for text in texts for name in re.findall(rf"^`+\{{{_KIND}\}} (\S+)$", text, re.MULTILINE)]


def _read(app: Sphinx) -> None:
    paths = [path for folder in _folders() for path in sorted((ROOT / folder).glob("*.h"))]
    try:
        _headers.update(doxygen.read_headers(ROOT, paths, Path(app.doctreedir).parent / "doxygen"))
    except RuntimeError as error:
        raise ExtensionError(str(error)) from error


def _all_have_pages(app: Sphinx, env: BuildEnvironment) -> None:
    """Each folder of the runtime is on a page."""
    missing = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / _RUNTIME).rglob("*.h")}
    for folder in sorted(missing - noted(env, _KIND)):
        _LOGGER.warning(f"reference: expected a page with `{_KIND} {folder}`, got none")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive(_KIND, CppFolder)
    app.connect("builder-inited", _read)
    app.connect("env-check-consistency", _all_have_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
