# SPDX-License-Identifier: BSD-3-Clause
"""Link maps as pieces, and what component each is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.errors import InvalidArgument
from rushlight.size.components import Components, dtypes_of, operators_by_source
from rushlight.size.linkmap import Piece, read_map

GNU = """Archive member included to satisfy reference by file (symbol)

Discarded input sections

 .text          0x00000000      0x999 CMakeFiles/left_out.dir/a.cpp.obj

Linker script and memory map

LOAD librushlight_runtime.a

.text           0x11000000     0x8a18
 *(.text .text.*)
 .text._ZN9rushlight16semihosting_callENS_15SemihostingCallEPKv
                0x11000000        0x4 CMakeFiles/rushlight_board.dir/toolchains/boards/startup/start.cpp.obj
                0x11000000                rushlight::semihosting_call(rushlight::SemihostingCall, void const*)
 *fill*         0x11000004        0x2
 .text.memcpy   0x11000008      0x154 /usr/lib/lib.d/libc.a(memcpy.o)
 .text._ZN9rushlight6Method7executeEv
                0x11000160       0x10 librushlight_runtime.a(method.cpp.obj)
 .rodata.str1.1
                0x11000170      0x153 librushlight_runtime.a(error.cpp.obj)
                                0x16a (size before relaxing)

.bss            0x30011010       0x30 load address 0x11008a80
 COMMON         0x30011010        0x8 libexecutorch_kernels.a(op_add.cpp.obj)
"""

LLD = """             VMA              LMA     Size Align Out     In      Symbol
          20119c           20119c       14     4 .text
          20119c           20119c        1     1         CMakeFiles/app.dir/l.o:(.text._start)
          20119c           20119c        1     1                 _start
          20119d           20119d       13     1         libc.a(memcpy.o):(.text.memcpy)
               0                0       43     1 .comment
               0                0       43     1         <internal>:(.comment)
"""


def test_gnu_maps_have_what_was_linked_only(tmp_path: Path) -> None:
    (tmp_path / "a.map").write_text(GNU)
    pieces = read_map(tmp_path / "a.map")
    assert [piece.size for piece in pieces] == [4, 2, 0x154, 16, 0x153, 8]
    assert pieces[2] == Piece(".text", ".text.memcpy", 0x11000008, 0x154, "memcpy.o", "/usr/lib/lib.d/libc.a")
    assert pieces[0].name.startswith(".text._ZN9rushlight16semihosting_call") and pieces[1].file == ""
    assert (pieces[5].section, pieces[5].name) == (".bss", "COMMON")


def test_lld_maps_are_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "a.map").write_text(LLD)
    first, second = [piece for piece in read_map(tmp_path / "a.map") if piece.section == ".text"]
    assert first == Piece(".text", ".text._start", 0x20119C, 1, "CMakeFiles/app.dir/l.o", "")
    assert (second.archive, second.file, second.size) == ("libc.a", "memcpy.o", 0x13)


def test_a_file_that_is_no_map_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.map").write_text("hello\n")
    with pytest.raises(InvalidArgument, match="expected one of GNU ld or lld"):
        read_map(tmp_path / "a.map")
    with pytest.raises(InvalidArgument, match="No such file"):
        read_map(tmp_path / "b.map")


@pytest.mark.parametrize(
    ("archive", "file", "section", "component"),
    [
        ("librushlight_runtime.a", "method.cpp.obj", ".text", "runtime/executor"),
        ("libexecutorch_kernels.a", "op_relu.cpp.o", ".text", "kernels/operators/activation"),
        ("libexecutorch_kernels.a", "convolution.cpp.o", ".text", "kernels/geometry"),
        ("libexecutorch_kernels.a", "operator_table.cpp.o", ".text", "generated table"),
        ("librushlight_runtime.a", "operator_table.cpp.o", ".text", "runtime/kernel"),
        ("/usr/lib/libc.a", "memcpy.o", ".text", "C library (libc.a)"),
        ("/usr/lib/gcc/libgcc.a", "_udivmoddi4.o", ".text", "compiler library (libgcc.a)"),
        ("libmine.a", "thing.o", ".text", "library libmine.a"),
        ("", "CMakeFiles/rushlight_board.dir/toolchains/boards/startup/arm.cpp.obj", ".text", "startup"),
        ("", "CMakeFiles/executor_runner.dir/runtime/runner/request_run.cpp.o", ".text", "runtime/runner"),
        ("", "CMakeFiles/app.dir/main.cpp.o", ".text", "application"),
        ("", "CMakeFiles/app.dir/app_model.S.o", ".rodata", "model"),
        ("", "/usr/lib/Scrt1.o", ".plt", "dynamic linking"),
        ("", "", ".text", "padding"),
    ],
)
def test_objects_have_their_components_without_a_build_folder(archive, file, section, component) -> None:
    assert Components().of(Piece(section, section, 16, 4, file, archive)) == component


def test_a_source_has_the_operators_that_were_selected() -> None:
    both = operators_by_source(None)["kernels/operators/reduction/op_mean.cpp"]
    assert "aten::mean.out" in both and "aten::mean.dtype_out" in both
    assert operators_by_source(["aten::mean.out"]) == {
        "kernels/host/reduction.cpp": "aten::mean.out",
        "kernels/board/mean.cpp": "aten::mean.out",
        "kernels/operators/reduction/op_mean.cpp": "aten::mean.out",
    }
    assert "kernels/board/convolution.cpp" in operators_by_source(["aten::convolution.out"])


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("void rushlight::kernels::add_scaled<float>(rushlight::Tensor const&, int)", "float32"),
        ("auto f(int)::{lambda(auto:1)#1}::operator()<rushlight::Type<double> >(int) const", "float64"),
        ("void row<signed char, rushlight::Half>(float*)", "float16+int8"),
        ("void row<rushlight::Complex<float> >(int)", "complex64"),
        ("void row<float, std::enable_if<true, long long>, 3u>(bool)", "float32+int64"),
        ("rushlight::kernels::relu_out(rushlight::Tensor const&, float)", ""),
        ("bool rushlight::operator<(float, float)", ""),
    ],
)
def test_dtypes_are_those_of_template_arguments(name: str, dtypes: str) -> None:
    assert dtypes_of(name) == dtypes
