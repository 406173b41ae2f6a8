# SPDX-License-Identifier: BSD-3-Clause
"""The names and types that a C++ file declares and defines outside of function bodies, for tests of layers.

No compiler: comments, literals and preprocessor lines are blanked, then one pass over the text keeps the
stack of namespaces and classes and cuts it into statements at `;` and `{`. The whole tree takes a second.
The parser covers the C++ that the tree uses; it does not see declarations by macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANKED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(?P<mark>\w*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*"
    | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*' | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]* | \[\[.*?\]\]
    | __attribute__\(\((?:[^()]|\([^()]*\))*\)\)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_TEMPLATE = re.compile(r"\btemplate\s*<")
_ACCESS = re.compile(r"^\s*(?:(?:public|private|protected)\s*:\s*)+")
_NAMESPACE = re.compile(r"^\s*(?:inline\s+)?namespace\b\s*([\w:]*)\s*$")
_CLASS = re.compile(r"^[^=(]*\b(?:class|struct|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)[^()=;]*$")
_TYPE = re.compile(
    r"^[^=(]*\b(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\([^)]*\)\s*)?"
    r"((?:\w+::)*\w+)\s*(<[^()=;]*>)?\s*(?:final\b)?\s*(?::(?!:)[^=;]*)?$"
)
_FUNCTION = re.compile(r"((?:\w+\s*::\s*)*(?:~?\w+|operator\s*(?:\(\)|[^\s\w(]+|[\w:\s*&]+)))\s*\(")
_VARIABLE = re.compile(r"((?:\w+::)*\w+)\s*(?:\[[^\]]*\]\s*)*$")
_NO_NAMES = {"alignas", "decltype", "noexcept", "sizeof", "static_assert", "__attribute__"}


@dataclass(frozen=True)
class Name:
    """A function or an object by its full name; `parameters` is the number of parameters, or -1 for an
    object."""

    name: str
    parameters: int
    is_definition: bool
    is_internal: bool  # internal to this file

    @property
    def key(self) -> tuple[str, int]:
        return self.name, self.parameters


def names_of(text: str) -> Iterator[Name]:
    """Every declaration and definition at the scope of a namespace or class."""
    for scopes, head, has_body in _statements(text):
        in_class = _in_class(scopes)
        if found := _declared(head, has_body, in_class):
            is_static = re.search(r"\bstatic\b", head) is not None
            internal = None in scopes or (is_static and not in_class)
            yield Name(_full(scopes, found[0]), found[1], found[2], internal)


def types_of(text: str) -> Iterator[str]:
    """The full name of every class, union and enumeration that is defined outside of unnamed namespaces and
    function bodies, with the arguments of a specialization."""
    for scopes, head, has_body in _statements(text, with_scopes=True):
        match = _TYPE.match(_without_templates(head)) if has_body and None not in scopes else None
        if match is not None:
            yield _full(scopes, match[1] + re.sub(r"\s+", "", match[2] or ""))


def _full(scopes: list[str | None], name: str) -> str:
    return "::".join([*(scope for scope in scopes if scope), name])


def _statements(text: str, *, with_scopes: bool = False) -> Iterator[tuple[list[str | None], str, bool]]:
    """Each statement at the scope of a namespace or class: the scopes around it, its text up to `;` or `{`,
    and True for `{`. Heads of namespaces and classes are included on request."""
    text = _BLANKED.sub(lambda m: '""' if m[0][0] in "\"'R" else " ", text)
    scopes: list[str | None] = []  # by open brace: a name, "" for none, None for an unnamed namespace
    head, depth, at = "", 0, 0
    while at < len(text):
        char = text[at]
        at += 1
        depth += (char == "(") - (char == ")")
        if depth > 0 or char not in "{};":
            head += char
            continue
        head = _ACCESS.sub("", head)
        if char == "{" and (opened := _scope(head)):
            if with_scopes:
                yield scopes, head, True
            scopes += opened
        elif char == "}":
            if scopes:
                scopes.pop()
        else:
            if char == "{":
                at = _end_of_braces(text, at)
            yield scopes, head, char == "{"
        head = ""


def _scope(head: str) -> tuple[str | None] | None:
    """The scope that a brace opens, as `scopes` has it; None for a body, an enumeration or an initializer."""
    if match := _NAMESPACE.match(head):
        return (match[1] or None,)
    if head.strip() == 'extern ""':
        return ("",)
    stripped = _without_templates(head)
    match = _CLASS.match(stripped)
    return None if match is None or re.search(r"\benum\b", stripped) else (match[1],)


def _in_class(scopes: list[str | None]) -> bool:
    """True if the innermost scope is a class; namespaces have lower-case names."""
    return bool(scopes) and (scopes[-1] or "")[:1].isupper()


def _end_of_braces(text: str, at: int) -> int:
    depth = 1
    while depth > 0 and at < len(text):
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return at


def _without_templates(head: str) -> str:
    """The head without `template <...>`, whose parameters may have parentheses."""
    while match := _TEMPLATE.search(head):
        end = _end_of_angles(head, match.end())
        head = head[: match.start()] + head[end:]
    return head


def _end_of_angles(text: str, at: int) -> int:
    depth = 1
    while depth > 0 and at < len(text):
        depth += (text[at] == "<") - (text[at] == ">")
        at += 1
    return at


def _declared(head: str, has_body: bool, in_class: bool) -> tuple[str, int, bool] | None:
    """The name, the number of parameters, and True for a definition."""
    head = _without_templates(head).strip()
    if not head or re.match(r"(using|typedef|friend|enum|static_assert|class|struct|union|concept)\b", head):
        return None
    before, assigned, _ = head.partition("=") if not re.search(r"\boperator\b", head) else (head, "", "")
    for match in _FUNCTION.finditer(before):
        name = re.sub(r"\s+", "", match[1])
        # A macro's call looks like a constructor outside of its class.
        is_call = not (before[: match.start()].strip() or "::" in name or has_body or in_class)
        if name in _NO_NAMES or is_call:
            continue
        # A function pointer `T (*name)(...)` is an object.
        if re.match(r"\s*\*", before[match.end() :]):
            return None
        return name, _parameters(before if "=" not in head else head, match.end()), has_body
    variable = _VARIABLE.search(before.strip())
    if variable is None or before.strip() == variable[1]:
        return None
    is_extern = re.match(r"extern\b", head) is not None
    return variable[1], -1, bool(assigned) or has_body or not is_extern


def _parameters(head: str, at: int) -> int:
    """The number of parameters from `at`, the index after the opening parenthesis."""
    depth, count, seen = 1, 0, False
    while at < len(head) and depth > 0:
        char = head[at]
        depth += (char in "(<[{") - (char in ")]}" or (char == ">" and head[at - 1] != "-"))
        if depth > 0 and not char.isspace():
            seen = True
        count += char == "," and depth == 1
        at += 1
    return count + 1 if seen else 0
