# SPDX-License-Identifier: BSD-3-Clause
"""Reads Doxygen's XML: declarations of headers in source order, each with its comment."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from doxygen_comments import for_doxygen

_CONFIGURATION = """
INPUT = .
RECURSIVE = YES
FILE_PATTERNS = *.h
OUTPUT_DIRECTORY = ..
STRIP_FROM_PATH = .
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
MARKDOWN_SUPPORT = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
SEARCH_INCLUDES = NO
HAVE_DOT = NO
INCLUDE_GRAPH = NO
INCLUDED_BY_GRAPH = NO
PREDEFINED = __attribute__(x)= EXECUTORCH_ENABLE_EVENT_TRACER=1 __cplusplus=201703L
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = YES
QUIET = YES
"""


# Assignments, and constructors that copy or move.
_COPIES = re.compile(r" (operator=|(\w+)\s*\((const )?\2 ?&)")


@dataclass
class Declaration:
    """A declaration in a header: a class has its public and protected members, an enum its values."""

    kind: str
    name: str
    text: str
    comment: str
    line: int
    namespace: str = ""
    members: list[Declaration] = field(default_factory=list)


@dataclass
class Header:
    """A header: its path, its first comment, its declarations in their order."""

    path: str
    comment: str
    declarations: list[Declaration]


def read_headers(root: Path, paths: list[Path], scratch: Path) -> dict[str, Header]:
    """The headers at `paths` by their path from `root`. Error: RuntimeError with what Doxygen said."""
    shutil.rmtree(scratch, ignore_errors=True)
    for path in paths:
        copy = scratch / "headers" / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(for_doxygen(path.read_text()))
    command = ["doxygen", "-"]
    try:
        ran = subprocess.run(
            command, cwd=scratch / "headers", input=_CONFIGURATION, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise RuntimeError("doxygen: expected the program, got none; apt-get install doxygen") from error
    if ran.returncode:
        raise RuntimeError(f"doxygen: {ran.stderr}")
    return dict(_headers(scratch / "xml"))


def _headers(folder: Path) -> Iterator[tuple[str, Header]]:
    compounds = [
        ElementTree.parse(path).getroot()[0] for path in sorted(folder.glob("*.xml")) if _is_compound(path)
    ]
    by_id = {each.get("id", ""): each for each in compounds}
    inner = {ref.get("refid", "") for each in compounds if _is_class(each) for ref in each.iter("innerclass")}
    found = {
        _location(each)[0]: Header(_location(each)[0], _comment(each), [])
        for each in compounds
        if each.get("kind") == "file"
    }
    for each in compounds:
        if _is_class(each) and each.get("id") not in inner and "@" not in _text(each, "compoundname"):
            path, _ = _location(each)
            found[path].declarations.append(_class(each, by_id))
        elif each.get("kind") in ("file", "namespace"):
            namespace = _text(each, "compoundname") if each.get("kind") == "namespace" else ""
            for member in each.iter("memberdef"):
                path, _ = _location(member)
                # Doxygen's file page repeats the members of its namespaces.
                if namespace or "::" not in _text(member, "qualifiedname"):
                    found[path].declarations += _members(member, namespace)
    for header in found.values():
        header.declarations.sort(key=lambda each: each.line)
    yield from found.items()


def _is_compound(path: Path) -> bool:
    return path.name != "index.xml" and path.stem != "combine"


def _is_class(each: ElementTree.Element) -> bool:
    return each.get("kind") in ("class", "struct", "union")


def _location(each: ElementTree.Element) -> tuple[str, int]:
    location = each.find("location")
    assert location is not None
    return location.get("file", ""), int(location.get("line", "0"))


def _text(each: ElementTree.Element, name: str) -> str:
    found = each.find(name)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _comment(each: ElementTree.Element) -> str:
    parts = [
        verbatim.text or ""
        for name in ("briefdescription", "detaileddescription")
        for found in each.findall(name)
        for verbatim in found.iter("verbatim")
    ]
    # Doxygen keeps the marks of lines between.
    return "\n\n".join(re.sub(r"(?m)^\s*/// ?", "", part).strip("\n") for part in parts).strip()


def _class(each: ElementTree.Element, by_id: dict[str, ElementTree.Element]) -> Declaration:
    whole = _text(each, "compoundname")
    namespace, _, name = _split(whole)
    members = [
        found
        for member in each.iter("memberdef")
        if member.get("prot") != "private"
        for found in _members(member, "")
    ]
    for ref in each.findall("innerclass"):
        if ref.get("prot") != "private" and "@" not in (ref.text or ""):
            members.append(_class(by_id[ref.get("refid", "")], by_id))
    members.sort(key=lambda member: member.line)
    bases = [
        ("" if base.get("prot") == "public" else base.get("prot", "") + " ") + (base.text or "")
        for base in each.findall("basecompoundref")
        if base.get("prot") != "private"
    ]
    text = _template(each) + name + (" : public " + ", ".join(bases) if bases else "")
    kind = {"union": "union", "struct": "struct"}.get(each.get("kind", ""), "class")
    return Declaration(kind, name, text, _comment(each), _location(each)[1], namespace, members)


def _split(whole: str) -> tuple[str, str, str]:
    """`a::B<c::D>` as `a`, `::` and `B<c::D>`."""
    head, angle, rest = whole.partition("<")
    namespace, colons, name = head.rpartition("::")
    return namespace, colons, name.strip() + angle + rest


def _template(each: ElementTree.Element) -> str:
    found = each.find("templateparamlist")
    if found is None:
        return ""
    parameters = []
    for each_parameter in found.findall("param"):
        word = _text(each_parameter, "type")
        name = _text(each_parameter, "declname")
        default = _text(each_parameter, "defval")
        word += f" {name}" if name and not word.endswith(name) else ""
        parameters.append(word + (f" = {default}" if default else ""))
    return f"template<{', '.join(parameters)}> "


def _members(each: ElementTree.Element, namespace: str) -> list[Declaration]:
    """The declaration of a member; none for deleted members."""
    kind, name, comment = each.get("kind", ""), _text(each, "name"), _comment(each)
    line = _location(each)[1]
    if "@" in name or kind == "friend" or (kind == "define" and not comment):
        return []
    if kind == "function":
        text = _function(each, name)
        is_plain = name.startswith("~") or (not comment and _COPIES.search(f" {text}"))
        return (
            []
            if is_plain or text.endswith(("=delete", "= delete"))
            else [Declaration(kind, name, text, comment, line, namespace)]
        )
    if kind == "enum":
        values = [
            Declaration("enumerator", _text(value, "name"), _text(value, "name"), _comment(value), 0)
            for value in each.findall("enumvalue")
        ]
        word = "enum-class" if each.get("strong") == "yes" else "enum"
        under = _text(each, "type")
        return [
            Declaration(word, name, name + (f" : {under}" if under else ""), comment, line, namespace, values)
        ]
    if kind == "define":
        parameters = [_text(parameter, "defname") for parameter in each.findall("param")]
        text = name + (f"({', '.join(parameters)})" if parameters else "")
        return [Declaration(kind, name, text, comment, line, "")]
    if kind == "typedef":
        if _text(each, "definition").startswith("typedef"):
            text = f"{_text(each, 'type')} {name}{_text(each, 'argsstring')}"
        else:
            text = f"{_template(each)}{name} = {_text(each, 'type')}{_text(each, 'argsstring')}"
        return [Declaration("type", name, text, comment, line, namespace)]
    initial = _text(each, "initializer")
    text = f"{_template(each)}{_text(each, 'type')} {name}{_text(each, 'argsstring')}"
    static = "static " if each.get("static") == "yes" else ""
    return [
        Declaration(
            "var",
            name,
            static + text + (f" {initial}" if initial and len(initial) < 40 else ""),
            comment,
            line,
            namespace,
        )
    ]


def _function(each: ElementTree.Element, name: str) -> str:
    words = [word for word in ("explicit", "static") if each.get(word) == "yes"]
    if each.get("virt") in ("virtual", "pure-virtual"):
        words.append("virtual")
    result = _text(each, "type")
    words += [result] if result else []
    return f"{_template(each)}{' '.join(words)} {name}{_text(each, 'argsstring')}".strip()
