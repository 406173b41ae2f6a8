# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of a multiply-accumulate on boards, for many geometries of each operator.

    python benchmarks/size/geometries.py                     # Markdown on stdout, all targets
    python benchmarks/size/geometries.py --json              # the same numbers as JSON
    python benchmarks/size/geometries.py --only transposed   # geometries whose name contains the text
    python benchmarks/size/geometries.py --write             # also put the table into README.md

A few programs for each target and dtype call every geometry once. QEMU counts the instructions of each call;
the trace of the run has them. The count of the smallest call, 1 x 1 x 1, is subtracted. The outputs are
compared with PyTorch's. Needs torch, the toolchains and QEMU (`rushlight targets`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

import torch
from torch.nn import functional

from rushlight.codegen.table import load_table
from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from rushlight.trace.profile import profile, read_events
from rushlight.trace.request import TraceRequest
from support import written
from support.calls_program import CallsProgram, problem
from support.opinfo.recording import Record, RecordedCall

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("cortex-m55", "cortex-m4", "rv32imafc")
DTYPES = {"float32": torch.float32, "float16": torch.float16}
# The limits that float32 has to keep, in instructions of a multiply-accumulate.
LIMITS = {"cortex-m55": 1.2, "cortex-m4": 3.0, "rv32imafc": 3.0}
MOST_BYTES = 1_300_000
FIRST, LAST = torch.contiguous_format, torch.channels_last


@dataclass(frozen=True)
class Convolution:
    """A convolution: sizes of the input [N, C, ...] and the weight, and its settings."""

    name: str
    input: tuple[int, ...]
    weight: tuple[int, ...]
    settings: dict[str, Any]
    transposed: bool = False

    def call(self, watch: Record, dtype: torch.dtype, layout: torch.memory_format) -> int:
        """Records the call; returns its multiply-accumulates, including the border."""
        x = _numbers(self.input).to(dtype).contiguous(memory_format=layout)
        count = torch.Size(self.weight[1:]).numel()
        weight = (_numbers(self.weight) / count**0.5).to(dtype).contiguous(memory_format=layout)
        outs = self.weight[1] * self.settings.get("groups", 1) if self.transposed else self.weight[0]
        kind = f"conv{'_transpose' if self.transposed else ''}{len(self.input) - 2}d"
        with watch:
            out = getattr(functional, kind)(x, weight, _numbers((outs,)).to(dtype), **self.settings)
        return (x if self.transposed else out).numel() * count


CONVOLUTIONS = (
    Convolution("1x1, 3 to 16", (1, 3, 16, 16), (16, 3, 1, 1), {}),
    Convolution("1x1, 8 to 8", (1, 8, 12, 12), (8, 8, 1, 1), {}),
    Convolution("1x1, 16 to 5", (1, 16, 12, 11), (5, 16, 1, 1), {}),
    Convolution("1x1, 64 to 64", (1, 64, 6, 6), (64, 64, 1, 1), {}),
    Convolution("1x1, stride 2", (1, 32, 12, 12), (32, 32, 1, 1), {"stride": 2}),
    Convolution("3x3, 3 to 8", (1, 3, 16, 16), (8, 3, 3, 3), {"padding": 1}),
    Convolution("3x3, 16 to 16", (1, 16, 12, 12), (16, 16, 3, 3), {"padding": 1}),
    Convolution("3x3, 16 to 1", (1, 16, 12, 12), (1, 16, 3, 3), {"padding": 1}),
    Convolution("3x3, 16 to 3", (1, 16, 12, 12), (3, 16, 3, 3), {"padding": 1}),
    Convolution("3x3, 64 to 32 on 5x5", (1, 64, 5, 5), (32, 64, 3, 3), {"padding": 1}),
    Convolution("3x3, stride 2", (1, 8, 17, 15), (24, 8, 3, 3), {"padding": 1, "stride": 2}),
    Convolution("3x3, dilation 2", (1, 12, 14, 14), (12, 12, 3, 3), {"padding": 2, "dilation": 2}),
    Convolution("5x5, 1 to 6", (1, 1, 28, 28), (6, 1, 5, 5), {"padding": 2}),
    Convolution("7x7, stride 2", (1, 3, 24, 24), (8, 3, 7, 7), {"padding": 3, "stride": 2}),
    Convolution("10x4, stride 2", (1, 1, 49, 10), (16, 1, 10, 4), {"padding": (5, 1), "stride": 2}),
    Convolution("groups of 2", (1, 16, 12, 12), (16, 2, 3, 3), {"padding": 1, "groups": 8}),
    Convolution("groups of 4", (1, 32, 10, 10), (32, 4, 3, 3), {"padding": 1, "groups": 8}),
    Convolution("groups of 8, 1x1", (1, 32, 10, 10), (32, 8, 1, 1), {"groups": 4}),
    Convolution("depthwise 2x2", (1, 16, 12, 12), (16, 1, 2, 2), {"groups": 16}),
    Convolution("depthwise 3x3", (1, 16, 12, 12), (16, 1, 3, 3), {"padding": 1, "groups": 16}),
    Convolution("depthwise 3x3, 18 channels", (1, 18, 13, 11), (18, 1, 3, 3), {"padding": 1, "groups": 18}),
    Convolution(
        "depthwise 3x3, stride 2", (1, 16, 17, 17), (16, 1, 3, 3), {"padding": 1, "groups": 16, "stride": 2}
    ),
    Convolution(
        "depthwise 3x3, dilation 3", (1, 16, 14, 14), (16, 1, 3, 3),
        {"padding": 3, "groups": 16, "dilation": 3},
    ),
    Convolution("depthwise 5x5", (1, 16, 12, 12), (16, 1, 5, 5), {"padding": 2, "groups": 16}),
    Convolution(
        "depthwise 5x5, stride 2", (1, 16, 15, 15), (16, 1, 5, 5), {"padding": 2, "groups": 16, "stride": 2}
    ),
    Convolution("depthwise 7x7", (1, 8, 14, 14), (8, 1, 7, 7), {"padding": 3, "groups": 8}),
    Convolution("depthwise 1x9", (1, 8, 10, 20), (8, 1, 1, 9), {"padding": (0, 4), "groups": 8}),
    Convolution("depthwise 3x3, 2 of each", (1, 8, 12, 12), (16, 1, 3, 3), {"padding": 1, "groups": 8}),
    Convolution("1-d, 16 to 16, kernel 3", (1, 16, 64), (16, 16, 3), {"padding": 1}),
    Convolution("1-d, 32 to 24, stride 2", (1, 32, 65), (24, 32, 5), {"padding": 2, "stride": 2}),
    Convolution("1-d, 1 to 8, kernel 64", (1, 1, 512), (8, 1, 64), {"stride": 16}),
    Convolution("1-d depthwise 3", (1, 16, 100), (16, 1, 3), {"padding": 1, "groups": 16}),
    Convolution("1-d depthwise 9", (1, 16, 100), (16, 1, 9), {"padding": 4, "groups": 16}),
    Convolution("1-d depthwise 31", (1, 8, 64), (8, 1, 31), {"padding": 15, "groups": 8}),
    Convolution("1-d dilation 4", (1, 16, 64), (16, 16, 3), {"padding": 4, "dilation": 4}),
    Convolution("3-d 3x3x3", (1, 4, 6, 8, 8), (8, 4, 3, 3, 3), {"padding": 1}),
    Convolution("3-d depthwise", (1, 4, 6, 8, 8), (4, 1, 3, 3, 3), {"padding": 1, "groups": 4}),
    Convolution("transposed 2x2, stride 2", (1, 16, 8, 8), (16, 8, 2, 2), {"stride": 2}, True),
    Convolution(
        "transposed 3x3, stride 2", (1, 16, 8, 8), (16, 12, 3, 3),
        {"stride": 2, "padding": 1, "output_padding": 1}, True,
    ),
    Convolution("transposed 4x4, stride 2", (1, 16, 7, 9), (16, 3, 4, 4), {"stride": 2, "padding": 1}, True),
    Convolution("transposed 3x3, stride 1", (1, 12, 9, 9), (12, 12, 3, 3), {"padding": 1}, True),
    Convolution("transposed 5x5, stride 3", (1, 8, 7, 7), (8, 8, 5, 5), {"stride": 3, "dilation": 2}, True),
    Convolution(
        "transposed depthwise 4x4", (1, 16, 8, 8), (16, 1, 4, 4),
        {"stride": 2, "padding": 1, "groups": 16}, True,
    ),
    Convolution("transposed 1-d, kernel 16", (1, 8, 32), (8, 4, 16), {"stride": 8, "padding": 4}, True),
)  # fmt: skip


def _numbers(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.rand(shape) * 2 - 1


def _set_layout(call: RecordedCall, layout: torch.memory_format) -> None:
    """Gives the outputs the layout that programs have; eager PyTorch chooses its own."""
    if call.outs[0].dim() != 4:
        return
    outs = [out.contiguous(memory_format=layout) for out in call.outs]
    for old, new in zip(call.outs, outs, strict=True):
        [index] = [i for i, item in enumerate(call.arguments) if item is old]
        call.arguments[index] = new
    call.outs = outs
    call.expected = [each.contiguous(memory_format=layout) for each in call.expected]


def _attention(given: dict[str, torch.Tensor], expected: torch.Tensor) -> RecordedCall:
    """A call of the attention operator, which PyTorch has no overload with `out` for."""
    row = "aten::scaled_dot_product_attention.out"
    table = load_table(ROOT / "kernels" / "ops.yaml").operators
    schema = torch._C.parse_schema(table[row].schema.text)
    out = torch.full_like(expected, torch.nan)
    arguments = [*given.values(), None, 0.0, False, None, False, out]
    function = torch.ops.aten.scaled_dot_product_attention.default
    return RecordedCall(row, schema, function, given, arguments, [out], [expected])


def _products(watch: Record, dtype: torch.dtype) -> Iterator[tuple[str, int]]:
    """Linear layers, matrix products and attention: the name and the multiply-accumulates of each."""

    def of(*shape: int) -> torch.Tensor:
        return _numbers(shape).to(dtype)

    for rows, depth, columns in (
        (1, 640, 128),
        (1, 16, 10),
        (1, 100, 7),
        (3, 64, 64),
        (49, 48, 96),
        (10, 5, 3),
    ):
        given = {"input": of(rows, depth), "weight": of(columns, depth), "bias": of(columns)}
        expected = functional.linear(*given.values())
        watch.make_call("aten::linear.out", given, [expected], torch.ops.aten.linear.default)
        yield f"linear {rows} x {depth} to {columns}", rows * depth * columns
    for rows, depth, columns in ((1, 256, 64), (17, 33, 19), (48, 48, 48)):
        with watch:
            torch.mm(of(rows, depth), of(depth, columns))
        yield f"mm {rows} x {depth} x {columns}", rows * depth * columns
    with watch:
        torch.addmm(of(128), of(1, 300), of(128, 300).t())
    yield "addmm 1 x 300 x 128, transposed", 300 * 128
    for rows, depth, columns in ((25, 16, 25), (1, 32, 40)):
        with watch:
            torch.bmm(of(4, rows, depth), of(4, depth, columns))
        yield f"bmm 4 x {rows} x {depth} x {columns}", 4 * rows * depth * columns
        with watch:
            torch.bmm(of(4, rows, depth), of(4, columns, depth).transpose(1, 2))
        yield f"bmm 4 x {rows} x {depth} x {columns}, transposed", 4 * rows * depth * columns
    for tokens, keys, size in (
        (16, 16, 32),
        (32, 32, 16),
        (128, 128, 32),
        (64, 64, 64),
        (128, 128, 64),
        (1, 50, 32),
        (1, 128, 64),
    ):
        given = {"query": of(1, 2, tokens, size), "key": of(1, 2, keys, size), "value": of(1, 2, keys, size)}
        expected = functional.scaled_dot_product_attention(*given.values())
        watch.calls.append(_attention(given, expected))
        yield f"attention 2 x {tokens} of {keys} keys x {size}", 2 * 2 * tokens * keys * size


# Pools by name, on images [1, 16, 16, 16]: elements of all windows instead of multiply-accumulates.
POOLS: tuple[tuple[str, int, Callable[[torch.Tensor], torch.Tensor]], ...] = (
    ("max pool 2x2", 4, lambda x: functional.max_pool2d(x, 2)),
    ("max pool 3x3, stride 2", 9, lambda x: functional.max_pool2d(x, 3, 2, 1)),
    ("average pool 2x2", 4, lambda x: functional.avg_pool2d(x, 2)),
    ("average pool 3x3, stride 1", 9, lambda x: functional.avg_pool2d(x, 3, 1, 1)),
    ("average of all", 256, lambda x: torch.mean(x, (2, 3), True)),
)
ROWS = (
    "aten::convolution.out",
    "aten::linear.out",
    "aten::mm.out",
    "aten::addmm.out",
    "aten::bmm.out",
    "aten::max_pool2d_with_indices.out",
    "aten::avg_pool2d.out",
    "aten::mean.out",
)


@dataclass(frozen=True)
class Geometry:
    """A named call and its multiply-accumulates."""

    name: str
    operations: int
    call: RecordedCall


def geometries(dtype: torch.dtype, only: str = "") -> list[Geometry]:
    """The geometries whose names contain `only`. oneDNN is off: for a depthwise float16 convolution of 31
    taps, it generates code without end on CPUs with AVX512-FP16 (torch 2.13)."""
    with torch.backends.mkldnn.flags(enabled=False):
        return _geometries(dtype, only)


def _geometries(dtype: torch.dtype, only: str) -> list[Geometry]:
    torch.manual_seed(0)
    watch = Record(ROWS, max_elements=1_000_000)
    found: list[Geometry] = []

    def take(name: str, operations: int) -> None:
        call = watch.calls.pop()
        assert not watch.calls, f"{name}: expected one call, got {watch.calls}"
        if only in name:
            found.append(Geometry(name, operations, call))

    for convolution in CONVOLUTIONS:
        layouts = (FIRST, LAST) if len(convolution.input) == 4 else (FIRST,)
        for layout in layouts:
            suffix = ", channels-last" if layout is LAST else ""
            operations = convolution.call(watch, dtype, layout)
            _set_layout(watch.calls[-1], layout)
            take(f"{convolution.name}{suffix}", operations)
    for name, operations in _products(watch, dtype):
        take(name, operations)
    for name, taps, pool in POOLS:
        for layout in (FIRST, LAST):
            x = _numbers((1, 16, 16, 16)).to(dtype).contiguous(memory_format=layout)
            with watch:
                out = pool(x)
            _set_layout(watch.calls[-1], layout)
            take(f"{name}{', channels-last' if layout is LAST else ''}", out.numel() * taps)
    return found


@dataclass(frozen=True)
class Row:
    """The instructions of one call on one target, and the reason if its result is wrong."""

    name: str
    dtype: str
    target: str
    operations: int
    instructions: int
    wrong: str

    @property
    def each(self) -> float:
        """Instructions of one multiply-accumulate."""
        return self.instructions / self.operations


def smallest(dtype: torch.dtype) -> Geometry:
    """The call whose instructions are subtracted from all others: one multiply-accumulate."""
    watch = Record(ROWS, max_elements=10)
    with watch:
        torch.mm(torch.ones(1, 1, dtype=dtype), torch.ones(1, 1, dtype=dtype))
    return Geometry("mm 1 x 1 x 1", 1, watch.calls.pop())


def batches(made: Sequence[Geometry]) -> list[list[Geometry]]:
    """Splits the calls into programs whose tensors fit in a board's memory twice: as inputs, and planned."""
    parts: list[list[Geometry]] = [[]]
    taken = 0
    for geometry in made:
        taken += sum(tensor.nbytes for tensor in geometry.call.tensors)
        if taken > MOST_BYTES:
            parts.append([])
            taken = 0
        parts[-1].append(geometry)
    return parts


def measure(made: Sequence[Geometry], dtype: str, target: str, folder: Path) -> list[Row]:
    """Builds the program of all calls below `folder`, runs it and reads its trace. The first call is the
    smallest one."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "geometries.pte"
    calls = [geometry.call for geometry in made]
    model.write_bytes(CallsProgram(calls).file())
    inputs = [item.numpy() for call in calls for item in call.tensors]
    trace = TraceRequest(folder / "trace.etdp", 1 << 16)
    case = Case("geometries", 0.0, [Call("forward", inputs, None)])
    outcome = run(model, case, target=target, build_folder=folder, trace=trace)
    assert outcome.trace_loss is not None and not outcome.trace_loss.events
    counted = [item for item in profile(read_events(trace.etdump)).operators if item.chain >= 0]
    left = [torch.tensor(array) for array in outcome.calls[0].result.outputs]
    least = counted[0].total
    rows = []
    for geometry, item in zip(made, counted, strict=True):
        wrong = problem(geometry.call, [left.pop(0) for _ in geometry.call.outs])
        rows.append(Row(geometry.name, dtype, target, geometry.operations, item.total - least, wrong))
    return rows[1:]


def to_markdown(rows: Sequence[Row], targets: Sequence[str], dtypes: Sequence[str]) -> str:
    """A row for each geometry, a column for each target and dtype. Numbers above the limit are bold."""
    found = {(row.name, row.target, row.dtype): row for row in rows}
    pairs = [(target, dtype) for dtype in dtypes for target in targets]
    lines = [
        "| geometry | " + " | ".join(f"{target}, {dtype}" for target, dtype in pairs) + " |",
        "|---|" + "---:|" * len(pairs),
    ]
    for name in dict.fromkeys(row.name for row in rows):
        cells = []
        for target, dtype in pairs:
            row = found.get((name, target, dtype))
            text = "" if row is None else f"{row.each:.2f}"
            is_high = row is not None and row.each > LIMITS.get(target, row.each)
            cells.append(f"**{text}**" if is_high else text)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "geometries", help="folder for builds")
    parser.add_argument("--targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--dtypes", nargs="*", default=list(DTYPES), choices=list(DTYPES))
    parser.add_argument("--only", default="", metavar="TEXT", help="only geometries with this in their names")
    parser.add_argument("--json", action="store_true", help="print rows as JSON instead of a table")
    parser.add_argument(
        "--write", action="store_true", help="put the table into README.md; needs all targets and geometries"
    )
    options = parser.parse_args()
    is_whole = set(options.targets) == set(TARGETS) and set(options.dtypes) == set(DTYPES)
    if options.write and not (is_whole and not options.only):
        parser.error("--write: expected all targets, dtypes and geometries, got some of them")
    rows: list[Row] = []
    for dtype in options.dtypes:
        made = geometries(DTYPES[dtype], options.only)
        for target in options.targets:
            for part in batches(made):
                part = [smallest(DTYPES[dtype]), *part]
                rows += measure(part, dtype, target, options.work / f"{target}-{dtype}")
    table = to_markdown(rows, options.targets, options.dtypes)
    listed = [asdict(row) | {"each": round(row.each, 3)} for row in rows]
    print(json.dumps(listed, indent=1) if options.json else table)
    for row in rows:
        if row.wrong:
            print(f"{row.target} {row.dtype} {row.name}: {row.wrong[:300]}", file=sys.stderr)
    if options.write:
        written.write(Path(__file__).with_name("README.md"), "geometries", table)
    return any(row.wrong for row in rows)


if __name__ == "__main__":
    sys.exit(main())
