# SPDX-License-Identifier: BSD-3-Clause
"""python/bindings/_runtime.pyi says what the native module has."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

from rushlight.runtime import native

STUB = Path(__file__).parents[3] / "python" / "bindings" / "_runtime.pyi"

# How pybind11 spells the types of the stub.
SPELLINGS = {
    "typing.SupportsInt | typing.SupportsIndex": "int",
    "typing.SupportsInt": "int",
    "collections.abc.Sequence": "Sequence",
    "collections.abc.Callable": "Callable",
    "collections.abc.Mapping": "dict",
    "typing_extensions.Buffer": "Buffer",
    "collections.abc.Buffer": "Buffer",
    "typing.Annotated[numpy.typing.ArrayLike, numpy.float32]": "Any",
    "Optional[list]": "list | None",
    "Optional[str]": "str | None",
    "rushlight._runtime.": "",
}

TYPED_DICTS = re.findall(r"^class (\w+)\(TypedDict\)", STUB.read_text(), re.MULTILINE)


def normal(annotation: str) -> str:
    """An annotation as pybind11 and the stub both spell it: without what is inside containers."""
    for theirs, ours in SPELLINGS.items():
        annotation = annotation.replace(theirs, ours)
    annotation = re.sub(r"\b(list|dict|tuple|Callable)\[.*?\](?=$| \|)", r"\1", annotation)
    return "dict" if annotation in TYPED_DICTS else annotation


def stub_functions() -> dict[str, str]:
    """Each function of the stub, methods as Class.name, with its signature."""
    functions = {}

    def add(node: ast.FunctionDef, prefix: str) -> None:
        names = [argument.arg for argument in node.args.args]
        annotations = [normal(ast.unparse(a.annotation)) if a.annotation else "" for a in node.args.args]
        count = len(names) - len(node.args.defaults)
        defaults = [""] * count + [f" = {ast.unparse(value)}" for value in node.args.defaults]
        parts = [
            f"{name}: {annotation}{default}"
            for name, annotation, default in zip(names, annotations, defaults, strict=True)
            if name != "self"
        ]
        assert node.returns is not None
        functions[prefix + node.name] = f"({', '.join(parts)}) -> {normal(ast.unparse(node.returns))}"

    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            add(node, "")
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and not item.name.startswith("__"):
                    add(item, f"{node.name}.")
    return functions


def split(parameters: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def signature(document: str) -> str:
    """The signature in the first line of a pybind11 docstring."""
    match = re.match(r"\w+\((.*)\) -> (.*)$", document.splitlines()[0])
    assert match, document
    parts = []
    for part in split(match[1]):
        name, _, rest = part.partition(": ")
        annotation, equals, default = rest.partition(" = ")
        if default == "None" and "None" not in normal(annotation):
            annotation += " | None"  # pybind11 omits it for objects that may be null
        if name != "self":
            parts.append(f"{name}: {normal(annotation)}{equals}{default}")
    return f"({', '.join(parts)}) -> {normal(match[2])}"


def native_functions(module: ModuleType) -> dict[str, str]:
    """Each public function of the module and of its classes."""
    functions = {}
    for name, item in vars(module).items():
        if name.startswith("_") or (isinstance(item, type) and issubclass(item, Exception)):
            continue
        if isinstance(item, type):
            members = {f"{name}.{key}": value for key, value in vars(item).items() if key[0] != "_"}
        else:
            members = {name: item}
        functions.update({key: signature(value.__doc__) for key, value in members.items()})
    return functions


def test_the_stub_has_the_functions_of_the_module() -> None:
    assert native_functions(native.default_module()) == stub_functions()


def test_facts_have_the_keys_of_the_stub() -> None:
    module = native.default_module()
    keys = {
        node.name: {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}  # type: ignore[union-attr]
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    interop = Path(__file__).parents[2] / "interop"
    program = module.load_file(str(interop / "multi_method" / "model.pte"))
    assert set(module.build_info()) == keys["BuildInfo"]
    assert set(program.method_facts("encode")) == keys["MethodFacts"]
    constant = next(name for name in program.method_names() if not program.method_facts(name)["operators"])
    assert set(program.load_method(constant).memory()) == keys["Memory"]


def test_every_function_says_what_it_does() -> None:
    module = native.default_module()
    for owner in (module, module.Method, module.Program):
        for name, item in vars(owner).items():
            if not name.startswith("_") and not isinstance(item, type):
                assert len(item.__doc__.strip().splitlines()) > 1, name


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("f(self: m.C, a: str, b: list[tuple[int, str]] = ()) -> dict", "(a: str, b: list = ()) -> dict"),
        ("f() -> rushlight._runtime.Method", "() -> Method"),
    ],
)
def test_signatures_are_read(document: str, expected: str) -> None:
    assert signature(document) == expected
