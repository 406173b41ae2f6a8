# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes programs (.pte), bundled programs (.bpte) and data files (.ptd) without torch."""

from rushlight.program.bundled import (
    BundledCase,
    BundledProgram,
    BundledSuite,
    BundledTensor,
    is_bundled_program,
    read_bundled_program,
)
from rushlight.program.bundled_writer import bundled_case, bundled_value, write_bundled_program
from rushlight.program.data_file import DataEntry, DataFile, read_data_file
from rushlight.program.data_writer import write_data_file
from rushlight.program.debug import DebugRecord, read_debug_record, record_beside
from rushlight.program.describe import describe, describe_file, operator_uses
from rushlight.program.file_image import FileImage
from rushlight.program.memory import MethodMemory, arena_bytes, method_memory
from rushlight.program.model import Device, Method, Program, Storage, TensorInfo, Value
from rushlight.program.parts import ProgramParts, parts_of
from rushlight.program.reader import read_model, read_program
from rushlight.program.writer import write_program

__all__ = [
    "BundledCase",
    "BundledProgram",
    "BundledSuite",
    "BundledTensor",
    "DataEntry",
    "DataFile",
    "DebugRecord",
    "Device",
    "FileImage",
    "Method",
    "MethodMemory",
    "Program",
    "ProgramParts",
    "Storage",
    "TensorInfo",
    "Value",
    "arena_bytes",
    "bundled_case",
    "bundled_value",
    "describe",
    "describe_file",
    "is_bundled_program",
    "method_memory",
    "operator_uses",
    "parts_of",
    "read_bundled_program",
    "read_data_file",
    "read_debug_record",
    "read_model",
    "read_program",
    "record_beside",
    "write_bundled_program",
    "write_data_file",
    "write_program",
]
