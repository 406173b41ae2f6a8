# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.program.schema says what the schemas of the installed official package say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from rushlight.codegen import flatbuffer_classes
from rushlight.program.schema import SCHEMAS as ALL
from rushlight.program.schema import FileSchema

SCHEMAS = {schema.name: schema for schema in ALL}
OFFICIAL = {
    "program": "schema/program.fbs",
    "data_file": "extension/flat_tensor/serialize/flat_tensor.fbs",
    "bundled_program": "devtools/bundled_program/schema/bundled_program_schema.fbs",
    "event_dump": "devtools/etdump/etdump_schema_flatcc.fbs",
}
# The language of schemas has two names for each of these.
WIDTHS = {
    "byte": "int8",
    "ubyte": "uint8",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
}

Table = list[tuple[str, str, bool]]


def package() -> Path:
    found = importlib.util.find_spec("executorch")
    if found is None or not found.submodule_search_locations:
        pytest.skip("executorch is not installed")
    return Path(next(iter(found.submodule_search_locations)))


def text_of(path: str) -> str:
    """A schema without comments and without the alignment of vectors."""
    return re.sub(r"//.*|\(force_align: \d+\)", "", (package() / path).read_text())


def tables(text: str) -> dict[str, Table]:
    """The fields of each table: name, type, and True for a vector."""
    made = {}
    for name, body in re.findall(r"table\s+(\w+)\s*{(.*?)}", text, re.DOTALL):
        fields = re.findall(r"(\w+)\s*:\s*(\[)?\s*([\w.]+)", body)
        made[name] = [(field, _type(words), bool(bracket)) for field, bracket, words in fields]
    return made


def _type(words: str) -> str:
    name = words.rpartition(".")[2]
    return WIDTHS.get(name, name)


def members(text: str, kind: str) -> dict[str, list[str]]:
    """The members of each enum or union."""
    found = re.findall(rf"{kind}\s+(\w+)[^{{]*{{(.*?)}}", text, re.DOTALL)
    return {name: re.findall(r"(\w+)\s*(?:=\s*\d+)?\s*(?:,|$)", body.strip()) for name, body in found}


def ours(schema: FileSchema) -> dict[str, Table]:
    return {
        name: [(field.name, field.type, field.is_vector) for field in fields.values()]
        for name, fields in schema.tables.items()
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_tables_have_the_official_fields_in_the_official_order(name: str) -> None:
    text, schema = text_of(OFFICIAL[name]), SCHEMAS[name]
    assert ours(schema) == tables(text)
    assert {key: list(values) for key, values in schema.unions.items()} == members(text, "union")
    assert {key: list(values) for key, values in schema.enums.items()} == members(text, "enum")
    for word, stated in (
        ("file_identifier", f'"{schema.identifier.decode()}"'),
        ("file_extension", f'"{schema.extension}"'),
        ("root_type", schema.root),
        ("namespace", schema.namespace),
    ):
        assert re.search(rf"\b{word}\s+{re.escape(stated)}\s*;", text), word


def test_numbers_of_dtypes_are_the_official_ones() -> None:
    official = re.findall(r"(\w+)\s*=\s*(\d+)", text_of("schema/scalar_type.fbs"))
    made = flatbuffer_classes.headers()[flatbuffer_classes.SCALAR_TYPE_HEADER]
    assert len(official) > 20
    assert set(official) <= set(re.findall(r"(\w+) = (\d+),", made))


def test_a_union_takes_two_slots() -> None:
    value, instruction = (SCHEMAS["program"].tables[name] for name in ("EValue", "Instruction"))
    assert [field.slot for field in (*value.values(), *instruction.values())] == [1, 1]
