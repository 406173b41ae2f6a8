# SPDX-License-Identifier: BSD-3-Clause
"""The names of the package `rushlight` that a shell shows."""

from __future__ import annotations

import builtins
import importlib
import inspect
import pydoc
import sys

import pytest

import rushlight
from rushlight import process
from rushlight.errors import MissingDependency


def test_completion_offers_what_there_is() -> None:
    names = dir(rushlight)
    assert {"load", "export", "build", "quantize", "runtime", "errors", "Program", "Method"} <= set(names)
    assert names == sorted(names) and "importlib" not in names and "_LAZY" not in names
    assert set(rushlight.__all__) <= set(names)


def test_listing_names_loads_nothing() -> None:
    code = "import sys, rushlight; dir(rushlight); print([m for m in sys.modules if m in ('numpy', 'torch')])"
    assert process.run([sys.executable, "-c", code], check=True).stdout == "[]\n"


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra `export` is not installed."""
    real = builtins.__import__

    def refuse(name: str, *arguments: object, **keywords: object) -> object:
        if name.split(".")[0] in ("torch", "torchao"):
            raise ImportError("no torch", name="torch")
        return real(name, *arguments, **keywords)  # type: ignore[arg-type]

    for module in [
        name for name in sys.modules if name.startswith(("rushlight.export", "rushlight.quantize"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    for name in ("export", "quantize"):
        monkeypatch.delitem(vars(rushlight), name, raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.usefixtures("no_torch")
def test_help_says_what_there_is_and_shows_what_is_installed() -> None:
    text = pydoc.plain(pydoc.render_doc(rushlight))
    head = text.split("PACKAGE CONTENTS")[0]
    assert all(
        f"    {name}" in head for name in ("load(", "export(", "build(", "quantize(", "runtime ", "errors ")
    )
    assert "class Program" in text and "load(source" in text.split("FUNCTIONS")[1]
    described = inspect.getdoc(rushlight)
    assert described is not None and all(name in described for name in rushlight.__all__ if name[0] != "_")


@pytest.mark.usefixtures("no_torch")
@pytest.mark.parametrize("name", ["export", "quantize"])
def test_what_is_not_installed_names_the_extra(name: str) -> None:
    assert not hasattr(rushlight, name)
    with pytest.raises(MissingDependency, match="'torch' is not installed") as caught:
        getattr(rushlight, name)
    assert caught.value.next_step == "pip install 'rushlight[export]'"
    with pytest.raises(MissingDependency):
        importlib.import_module(f"rushlight.{name}")
