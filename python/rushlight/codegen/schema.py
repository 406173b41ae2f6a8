# SPDX-License-Identifier: BSD-3-Clause
"""Parses operator schemas in PyTorch's form, and derives the C++ signature of their kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rushlight.errors import InvalidSelection

_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*::\w+(\.\w+)?)\(")
_RETURNED = re.compile(r"\((?P<alias>[a-z])!\)")
_TYPE = re.compile(r"(?P<base>[A-Za-z]+)(?P<alias>\([a-z]!?\))?(?P<suffix>(\?|\[\d*\])*)$")

_INTEGERS = ("int", "SymInt", "ScalarType", "Layout", "MemoryFormat", "Device")
_ELEMENT = {
    "Tensor": "Tensor",
    "Scalar": "Scalar",
    "float": "double",
    "bool": "bool",
    "str": "std::string_view",
    **dict.fromkeys(_INTEGERS, "int64_t"),
}
_ANY = ("Any", "Generator")
_BY_REFERENCE = ("Tensor", "Scalar")


@dataclass(frozen=True)
class Argument:
    """One argument: its `base` type (Tensor, int, …), whether it is written, optional or a list, and the
    letter of its alias annotation ("a" of "Tensor(a!)")."""

    name: str
    base: str
    mutable: bool = False
    optional: bool = False
    is_list: bool = False
    optional_items: bool = False
    alias: str = field(default="", compare=False)

    @property
    def cpp_type(self) -> str:
        """The parameter type in the kernel's C++ signature."""
        if self.base in _ANY:
            return "EValue&" if self.mutable else "const EValue&"
        element = _ELEMENT[self.base]
        if self.is_list:
            item = f"std::optional<{element}>" if self.optional_items else element
            span = f"Span<{item}>" if self.mutable else f"Span<const {item}>"
            return f"std::optional<{span}>" if self.optional else span
        if self.base in _BY_REFERENCE:
            if self.optional:  # const, although the tensor in it may be written
                return f"const std::optional<{element}>&"
            return f"{element}&" if self.mutable else f"const {element}&"
        return f"std::optional<{element}>" if self.optional else element


@dataclass(frozen=True)
class Schema:
    """An operator's full name ("aten::add.out", without a dot if it has no overload), its arguments in order,
    and the text from which it was parsed."""

    name: str
    arguments: tuple[Argument, ...]
    text: str = field(default="", compare=False)

    @property
    def base_name(self) -> str:
        """The name without namespace and overload ("add")."""
        return self.name.split("::")[1].split(".")[0]

    @property
    def returned(self) -> tuple[Argument, ...]:
        """The written arguments that the operator returns, in its order: without arguments that it only
        updates (a batch norm's running statistics); empty for "-> ()". Without alias annotations in the
        returns, all written arguments."""
        returns = self.text[_closing(self.text, self.text.index("(")) + 1 :]
        written = {argument.alias: argument for argument in self.arguments if argument.mutable}
        letters = _RETURNED.findall(returns)
        if letters or returns.split("->")[-1].strip() == "()":
            return tuple(written[letter] for letter in letters if letter in written)
        return tuple(argument for argument in self.arguments if argument.mutable)

    @property
    def has_tensor(self) -> bool:
        """True if any argument is a tensor or holds tensors."""
        return any(argument.base == "Tensor" for argument in self.arguments)

    def functional(self) -> str:
        """For an out overload, the schema of the functional operator: "ns::f(Tensor x) -> Tensor" for
        "ns::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)".
        """
        start = self.text.index("(")
        parts = [part.strip() for part in _split(self.text[start + 1 : _closing(self.text, start)])]
        kept = [part for part in parts if "!" not in part]
        if kept and kept[-1] == "*":
            kept.pop()
        results = ["Tensor[]" if out.is_list else "Tensor" for out in self.arguments if out.mutable]
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f"{re.sub(r'[._]?out$', '', self.name)}({', '.join(kept)}) -> {returned}"

    def cpp_declaration(self, function: str) -> str:
        """The C++ declaration of its kernel with the given function name, without semicolon."""
        parameters = ["KernelContext& context"]
        parameters += [f"{argument.cpp_type} {argument.name}" for argument in self.arguments]
        return f"Error {function}({', '.join(parameters)})"

    def cpp_signature(self) -> tuple[str, ...]:
        """The C++ parameter types after the context."""
        return tuple(argument.cpp_type for argument in self.arguments)


def parse_schema(text: str) -> Schema:
    """Parses `ns::name.overload(Type name=default, *, …) -> …`.

    Errors: InvalidSelection naming the schema and the wrong part.
    """
    head = _NAME.match(text)
    if head is None:
        raise InvalidSelection(f"schema '{text}': expected namespace::name.overload(arguments) -> returns")
    end = _closing(text, head.end() - 1)
    if not text[end + 1 :].lstrip().startswith("->"):
        raise InvalidSelection(f"schema '{text}': expected '->' after the arguments")
    parts = [part.strip() for part in _split(text[head.end() : end])]
    arguments = tuple(_parse_argument(part, text) for part in parts if part not in ("", "*"))
    return Schema(head["name"], arguments, text)


def _closing(text: str, start: int) -> int:
    """The index of the parenthesis that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise InvalidSelection(f"schema '{text}': expected a ')' that closes the arguments, got none")


def _split(text: str) -> list[str]:
    """Splits at commas outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _parse_argument(text: str, schema: str) -> Argument:
    declaration = text.split("=", 1)[0].strip()
    type_text, _, name = declaration.rpartition(" ")
    match = _TYPE.match(type_text.strip())
    if match is None or not name.isidentifier():
        raise InvalidSelection(f"schema '{schema}': expected 'Type name', got '{text}'")
    base, suffix = match["base"], re.sub(r"\d", "", match["suffix"])
    if base not in _ANY and base not in _ELEMENT:
        known = ", ".join(sorted((*_ELEMENT, *_ANY)))
        raise InvalidSelection(f"schema '{schema}': expected a type of {known}, got '{base}'")
    if suffix not in ("", "?", "[]", "[]?", "?[]"):
        raise InvalidSelection(f"schema '{schema}': expected an optional or a single list, got '{type_text}'")
    return Argument(
        name=name,
        base=base,
        mutable=bool(match["alias"]) and "!" in match["alias"],
        optional=suffix in ("?", "[]?"),
        is_list="[]" in suffix,
        optional_items=suffix == "?[]",
        alias=(match["alias"] or "").strip("(!)"),
    )
