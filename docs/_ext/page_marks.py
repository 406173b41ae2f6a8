# SPDX-License-Identifier: BSD-3-Clause
"""Takes HTML comments out of pages, and marks blocks that show output.

The comments are for scripts that write parts of pages and for the tests of code blocks; tests/docs/README.md
lists the latter.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_COMMENTS = re.compile(r"(?:\s*<!--.*?-->\s*)+", re.DOTALL)


class PageMarks(SphinxTransform):
    """Removes comments; a literal block after `<!-- output -->` gets the class `output`."""

    default_priority = 10

    def apply(self) -> None:
        for comment in list(self.document.findall(nodes.raw)):
            if not _COMMENTS.fullmatch(comment.astext()):
                continue
            following = comment.next_node(descend=False, siblings=True)
            if re.search(r"<!-- output -->\s*$", comment.astext()) and isinstance(
                following, nodes.literal_block
            ):
                following["classes"].append("output")
            comment.parent.remove(comment)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(PageMarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
