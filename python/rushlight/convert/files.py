# SPDX-License-Identifier: BSD-3-Clause
"""Converts files: programs and bundled programs, with their debug records."""

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
    """All of rushlight's operators, by name."""
    return load_table(source_root() / "kernels" / "ops.yaml").operators


def convert_file(
    source: Path,
    output: Path,
    *,
    operators: Mapping[str, Operator] | None = None,
    integers: bool = True,
    data_files: Sequence[Path] = (),
) -> Conversion:
    """Converts the program in a file and writes it, with its debug record if it has one. Writes nothing if
    nothing changes.

    Args:
        source: a program (.pte) or a bundled program (.bpte).
        output: the path to write to; its folder is created.
        operators: the operators that the converted program may call. Default: all of rushlight's.
        integers: convert quantized subgraphs to integer operators; otherwise only delegates are replaced.
        data_files: data files (.ptd) with weights of delegates.

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
    """The path of a model without XNNPACK and, with `integers`, with integer arithmetic where possible: the
    model's own path if nothing changes, else a converted file with its name in `folder`."""
    output = folder / model.name
    done = convert_file(model, output, integers=integers, data_files=data_files)
    return output if done.is_changed else model


def delegate_programs(model: Path, folder: Path, *, data_files: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Writes the programs that a host's backend creates from a model's delegates as files to `folder`; a
    build for the model needs their operators."""
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
    """Saves the converted program's debug record, with origins taken from the source's record."""
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
