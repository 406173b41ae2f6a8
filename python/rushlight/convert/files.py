# SPDX-License-Identifier: BSD-3-Clause
"""Converts files: programs and bundled programs, with the debug records beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from rushlight.codegen.table import Operator, load_table
from rushlight.convert.api import Conversion, MethodConversion, convert
from rushlight.convert.delegates import has_delegates, payload_programs
from rushlight.files import write_bytes
from rushlight.program import (
    DebugRecord,
    FileImage,
    Program,
    is_bundled_program,
    read_bundled_program,
    read_model,
    read_program,
    record_beside,
    write_bundled_program,
    write_program,
)
from rushlight.program.container import bytes_of
from rushlight.program.debug import MethodOrigins, debug_record_path, fingerprint
from rushlight.runtime import native
from rushlight.sources import source_root


@cache
def own_operators() -> Mapping[str, Operator]:
    """The operators that rushlight has, by name."""
    return load_table(source_root() / "kernels" / "ops.yaml").operators


def convert_file(
    source: Path,
    output: Path,
    *,
    operators: Mapping[str, Operator] | None = None,
    integers: bool = True,
    data_files: Sequence[Path] = (),
) -> Conversion:
    """Write the program of a file (.pte, .bpte) to `output` as convert() makes it, with its debug record if
    it has one; nothing is written where nothing changes.

    Errors: InvalidProgram, InvalidArgument, FileFailed.
    """
    data = bytes_of(source)
    bundle = read_bundled_program(data) if is_bundled_program(data) else None
    program = read_program(data if bundle is None else bundle.program)
    known = own_operators() if operators is None else operators
    done = convert(program, known, integers=integers, data_files=data_files)
    if done.parts is None:
        return done
    image = write_program(done.parts)
    whole = image if bundle is None else write_bundled_program(image, bundle.suites)
    output.parent.mkdir(parents=True, exist_ok=True)
    whole.save(output)
    _save_record(source, output, program, image, done)
    return done


def converted_model(
    model: Path, folder: Path, *, integers: bool = True, data_files: Sequence[Path] = ()
) -> Path:
    """A model that needs no XNNPACK and, with `integers`, computes in integers as far as it can: the file
    itself, or one of its name in `folder`."""
    output = folder / model.name
    done = convert_file(model, output, integers=integers, data_files=data_files)
    return output if done.is_changed else model


def delegate_programs(model: Path, folder: Path, *, data_files: Sequence[Path] = ()) -> tuple[Path, ...]:
    """What a host's backend makes of a model's delegates, as files in `folder`: a build that is given the
    model needs their operators."""
    program = read_model(model)
    if not has_delegates(program):
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, data in enumerate(payload_programs(program, native.default_module(), data_files)):
        paths.append(folder / f"{model.stem}-{number}.pte")
        write_bytes(paths[-1], data)
    return tuple(paths)


def _save_record(source: Path, output: Path, program: Program, image: FileImage, done: Conversion) -> None:
    """The origins of the instructions that each instruction was made of."""
    record = record_beside(source, program)
    if record is None:
        return
    methods = tuple(_origins(record, each) for each in done.methods)
    DebugRecord(fingerprint(image), methods).save(debug_record_path(output))


def _origins(record: DebugRecord, done: MethodConversion) -> MethodOrigins:
    old = record.method(done.name)
    if not done.origins:
        return old
    found = ((index, old.at(handle)) for index, handle in enumerate(done.origins))
    return MethodOrigins(
        done.name, tuple(replace(each, index=index) for index, each in found if each is not None)
    )
