# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: how `./dev docs` makes a site of the checkout's pages.

The source folder is the checkout: links between pages of docs/, examples/ and benchmarks/ are the same on a
forge and on the site. Nothing is fetched: the site opens from file://.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT / "python")]

project = "rushlight"
version = release = re.findall(
    r'__version__ = "(.+)"', (ROOT / "python" / "rushlight" / "__init__.py").read_text()
)[0]
copyright = "the authors of rushlight"
language = "en"
# Options in help texts keep their two dashes.
smartquotes = False

extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "page_marks",
    "source_links",
    "front_page",
    "navigation",
    "python_api",
    "cpp_api",
    "command_line",
    "exit_codes",
]
root_doc = "docs/index"
include_patterns = ["*.md", "**/README.md", "docs/**"]
# The front page stands for the README. The others hold build output, as in .gitignore, and what is hidden.
exclude_patterns = ["README.md", "build", "dist", "out", "rushlight-build", "**/.*", ".*", "docs/_*"]
source_suffix = {".md": "markdown"}

myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence", "fieldlist"]
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88
cpp_maximum_signature_line_length = 88
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "rushlight"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = True
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#9a4a00",
        "color-brand-content": "#9a4a00",
        "color-brand-visited": "#7d3c62",
        "color-sidebar-link-text--top-level": "var(--color-foreground-primary)",
    },
    "dark_css_variables": {
        "color-brand-primary": "#ffb36b",
        "color-brand-content": "#ffb36b",
        "color-brand-visited": "#e0a3c8",
        "color-sidebar-link-text--top-level": "var(--color-foreground-primary)",
    },
}
# Prompts are not copied, and what a command printed has no button.
copybutton_selector = "div:not(.output) > div.highlight > pre"
copybutton_prompt_text = "$ "
