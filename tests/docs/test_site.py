# SPDX-License-Identifier: BSD-3-Clause
"""The site of docs/: built without a warning, every internal link leads somewhere, nothing is fetched."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from rushlight import process

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sphinx", "myst_parser", "furo", "griffe", "sphinx_copybutton")
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """A page's anchors, links, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if address := found.get(FETCHED.get(tag, "")):
            self.loads.append(address)


@cache
def parsed(path: Path) -> Page:
    return Page(path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site, built as ./dev docs builds it, and what Sphinx said."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    missing += [] if shutil.which("doxygen") else ["doxygen"]
    if missing:
        pytest.skip(f"missing: {', '.join(missing)}; ./dev docs installs them")
    folder = tmp_path_factory.mktemp("docs")
    options = ["-q", "-W", "--keep-going", "-c", ROOT / "docs", "-d", folder / "cache"]
    ran = process.run([sys.executable, "-m", "sphinx", *options, ROOT, folder / "site"], timeout=600)
    assert (folder / "site" / "index.html").is_file(), ran.stderr
    return folder / "site", ran.stderr


@pytest.fixture
def site(built: tuple[Path, str]) -> Path:
    return built[0]


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def test_the_site_is_built_without_a_warning(built: tuple[Path, str]) -> None:
    assert built[1].splitlines() == []


def test_every_internal_link_leads_to_a_place(site: Path) -> None:
    broken = []
    for path in pages(site):
        for link in parsed(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.is_file() or (
                to.suffix == ".html" and parts.fragment and unquote(parts.fragment) not in parsed(to).anchors
            ):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    loads = {load for path in pages(site) for load in parsed(path).loads}
    assert [
        load for load in loads if urlsplit(load).scheme not in ("", "data") or urlsplit(load).netloc
    ] == []
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert "url(http" not in styles and "@import" not in styles


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("docs/reference/python/runtime", "load_program"),
        ("docs/reference/cpp/executor", "set_input"),
        ("docs/reference/cli", "--etdump"),
        ("docs/reference/exit-codes", "MissingToolchain"),
        ("examples/digits/README", "digits"),
        ("docs/decisions/index", "0001"),
    ],
)
def test_reference_pages_have_what_they_are_made_of(page: str, text: str, site: Path) -> None:
    assert text in (site / f"{page}.html").read_text()


def test_the_top_of_the_site_leads_to_the_front_page(site: Path) -> None:
    [address] = parsed(site / "index.html").links
    assert (site / address).is_file()
