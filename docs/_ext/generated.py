# SPDX-License-Identifier: BSD-3-Clause
"""Directives whose content is Markdown that Python writes, and the fences that such Markdown is made of."""

from __future__ import annotations

import ast
import re
import textwrap
from abc import abstractmethod
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from pygments.lexers import get_lexer_by_name
from pygments.token import Error
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]


class Generated(SphinxDirective):
    """A directive that stands for the Markdown which `markdown()` gives for its argument."""

    required_arguments = 1

    @abstractmethod
    def markdown(self, argument: str) -> str:
        """The Markdown; headings begin at level 2. Error: ValueError, which becomes a warning."""

    def note(self, kind: str, name: str) -> None:
        """Remembers that this page documents something, for `noted()`."""
        self.env.metadata[self.env.docname].setdefault(kind, set()).add(name)
        # The sources may change without the page, so the page is read in every build.
        self.env.note_reread()

    def run(self) -> list[nodes.Node]:
        try:
            text = self.markdown(self.arguments[0])
        except ValueError as error:
            raise self.error(str(error)) from error
        self.content = StringList(text.splitlines(), source=self.get_location())
        self.content_offset = 0
        return self.parse_content_to_nodes(allow_section_headings=True)


def noted(env: BuildEnvironment, kind: str) -> set[str]:
    """The names of one kind that all pages document."""
    return set().union(*(page.get(kind, set()) for page in env.metadata.values()))


def directive(name: str, argument: str, content: str, options: dict[str, str] | None = None) -> str:
    """The Markdown of a directive. Its fence is longer than those in its content."""
    longest = max((len(run) for run in re.findall(r"^`{3,}", content, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    lines = [f"{fence}{{{name}}} {argument}"]
    lines += [f":{key}: {value}".rstrip() for key, value in (options or {}).items()]
    return "\n".join([*lines, "", content.strip("\n"), fence, ""])


def code(text: str, language: str) -> str:
    """A fenced block; of no language where the text is not in it."""
    text = textwrap.dedent(text).strip()
    return f"```{language if _is_in(text, language) else 'text'}\n{text}\n```\n"


def _is_in(text: str, language: str) -> bool:
    if language != "python":
        return Error not in {kind for kind, _ in get_lexer_by_name(language).get_tokens(text)}
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def escaped(text: str) -> str:
    """Plain text as Markdown that shows it; what is between backticks stays code."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_<>\[\]|#$])", r"\\\1", part) for part in parts
    )
