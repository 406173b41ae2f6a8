# SPDX-License-Identifier: BSD-3-Clause
"""`python-module NAME`: what a module exports, with its docstrings and types.

The sources are read, not imported: neither PyTorch nor the native module has to be there.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache

import docstrings
import griffe
from generated import ROOT, Generated, directive, noted
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging as sphinx_logging

logging.getLogger("griffe").setLevel(logging.ERROR)
_LOGGER = sphinx_logging.getLogger(__name__)
_PACKAGE = "rushlight"


@cache
def _package() -> griffe.Module:
    paths = [ROOT / "python"]
    found = griffe.load(_PACKAGE, search_paths=paths, allow_inspection=False, resolve_aliases=True)
    assert isinstance(found, griffe.Module)
    return found


class PythonModule(Generated):
    """A module's docstring and each name of its `__all__`; without one, its public classes and functions."""

    def markdown(self, argument: str) -> str:
        module = _module(argument)
        self.note("python-module", argument)
        parts = [docstrings.markdown(module.docstring.value)] if module.docstring else []
        elsewhere = []
        parent, _, own = argument.rpartition(".")
        # A module that can be called is documented under its own name, first.
        for name in sorted(_exports(module), key=lambda name: name != own):
            found = _member(module, name)
            home = _homes().get(found.canonical_path, argument)
            if found.is_module:
                continue
            if home == argument:
                parts.append(_current_module(parent if name == own else argument))
                parts += _object(found, name)
            else:
                elsewhere.append(f"{{py:obj}}`{home}.{name}`")
        if elsewhere:
            parts.append("It also exports " + ", ".join(elsewhere) + ".")
        return "\n".join(parts)


def _current_module(name: str) -> str:
    return f"```{{py:currentmodule}} {name}\n```\n"


@cache
def _documented() -> list[str]:
    """The modules that have a page."""
    pages = (ROOT / "docs" / "reference" / "python").glob("*.md")
    found = [re.findall(r"^`+\{python-module\} (\S+)$", page.read_text(), re.MULTILINE) for page in pages]
    return sorted(name for names in found for name in names)


@cache
def _homes() -> dict[str, str]:
    """Where each exported object is documented, of several modules in the one nearest to its definition."""
    homes: dict[str, str] = {}
    for name in sorted(_documented(), key=len):
        module = _module(name)
        for exported in _exports(module):
            path = _member(module, exported).canonical_path
            if path not in homes or path.startswith(f"{name}."):
                homes[path] = name
    return homes


def _module(name: str) -> griffe.Object:
    path = name.partition(".")[2]
    found = _package()[path] if path else _package()
    if not found.is_module:
        raise ValueError(f"python-module: expected a module, got {name}")
    return found


def _exports(module: griffe.Object) -> list[str]:
    if module.exports is not None:
        return [str(name) for name in module.exports if not str(name).startswith("_")]
    members = module.members.items()
    return [
        name for name, each in members if not (name.startswith("_") or each.is_alias or each.is_attribute)
    ]


def _member(module: griffe.Object, name: str) -> griffe.Object:
    """Returns the object that a module exports under a name. A function hides the module of the same name
    that defines it."""
    found = module[name]
    if found.is_alias:
        found = found.final_target
    if found.is_module and name in found.members and not found.members[name].is_alias:
        return found.members[name]
    return found


def _object(each: griffe.Object, name: str) -> Iterator[str]:
    text = docstrings.markdown(each.docstring.value) if each.docstring else ""
    if isinstance(each, griffe.Class):
        members = "\n".join(part for member in _members(each) for part in _object(member, member.name))
        yield directive(
            "py:class", name + _parameters(each.parameters, skip_first=True), f"{text}\n{members}"
        )
    elif isinstance(each, griffe.Function):
        yield _function(each, name, text)
    elif isinstance(each, griffe.Attribute):
        yield _attribute(each, name, text)


def _members(each: griffe.Class) -> list[griffe.Object]:
    """Public members with those inherited from classes of the package that are private or not exported."""
    found = {**each.inherited_members, **each.members}
    public = [member for name, member in found.items() if not name.startswith("_")]
    resolved = [member.final_target if member.is_alias else member for member in public]
    own = [member for member in resolved if member.canonical_path.startswith(_PACKAGE)]
    return [member for member in own if member.docstring or not member.is_attribute or member.annotation]


def _function(each: griffe.Function, name: str, text: str) -> str:
    is_method = isinstance(each.parent, griffe.Class)
    signature = name + _parameters(
        each.parameters, skip_first=is_method and "staticmethod" not in each.labels
    )
    if each.returns is not None:
        signature += f" -> {_type(each.returns)}"
    options = {
        label: "" for label in ("classmethod", "staticmethod", "abstractmethod") if label in each.labels
    }
    return directive("py:method" if is_method else "py:function", signature, text, options)


def _attribute(each: griffe.Attribute, name: str, text: str) -> str:
    options = {"type": _type(each.annotation)} if each.annotation is not None else {}
    is_property = "property" in each.labels
    value = str(each.value) if each.value is not None and not is_property else ""
    if value and len(value) <= 40 and "field(" not in value:
        options["value"] = value
    in_class = isinstance(each.parent, griffe.Class)
    kind = "py:property" if is_property else "py:attribute" if in_class else "py:data"
    return directive(kind, name, text, options)


def _type(each: object) -> str:
    """An annotation with whole names, which link to the right one; `~` has Sphinx show their last part."""
    if isinstance(each, griffe.ExprName):
        return "~" + _whole_name(each.canonical_path)
    if isinstance(each, griffe.ExprAttribute) or not isinstance(each, griffe.Expr):
        return str(each)
    return "".join(_type(part) for part in each.iterate(flat=False))


def _whole_name(path: str) -> str:
    if not path.startswith(f"{_PACKAGE}."):
        return path
    try:
        found = _package()[path.removeprefix(f"{_PACKAGE}.")]
        path = (found.final_target if found.is_alias else found).canonical_path
    except (KeyError, griffe.AliasResolutionError):
        return path
    return f"{_homes()[path]}.{path.rpartition('.')[2]}" if path in _homes() else path


_PREFIX = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}


def _parameters(parameters: griffe.Parameters, skip_first: bool) -> str:
    words: list[str] = []
    starred = False
    for number, each in enumerate(parameters):
        if skip_first and number == 0:
            continue
        if each.kind is griffe.ParameterKind.keyword_only and not starred:
            words.append("*")
            starred = True
        starred |= each.kind is griffe.ParameterKind.var_positional
        words.append(_parameter(each))
    return f"({', '.join(words)})"


def _parameter(each: griffe.Parameter) -> str:
    word = _PREFIX.get(each.kind or griffe.ParameterKind.positional_or_keyword, "") + each.name
    if each.annotation is not None:
        word += f": {_type(each.annotation)}"
    if each.default is not None and each.kind not in _PREFIX:
        word += f" = {each.default}"
    return word


def _all_have_pages(app: Sphinx, env: BuildEnvironment) -> None:
    """Each package of rushlight that says what it exports has a page."""
    documented = noted(env, "python-module")
    assert documented == set(_documented())
    for name, member in _package().members.items():
        is_public = not member.is_alias and member.is_module and not name.startswith("_")
        if is_public and member.exports is not None and f"{_PACKAGE}.{name}" not in documented:
            _LOGGER.warning(f"reference: expected a page with `python-module {_PACKAGE}.{name}`, got none")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("python-module", PythonModule)
    app.connect("env-check-consistency", _all_have_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
