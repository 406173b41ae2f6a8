# SPDX-License-Identifier: BSD-3-Clause
"""bake_package(): bakes a program and writes it as a source package."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rushlight.codegen.bake import Baked, bake
from rushlight.codegen.bake.example import Sample
from rushlight.codegen.bake.literals import comment
from rushlight.codegen.emit import selected_calls, selected_kernels_header, selection_headers
from rushlight.codegen.selection import Selection
from rushlight.codegen.table import for_small_targets, load_table
from rushlight.convert.files import converted_model
from rushlight.errors import InvalidArgument
from rushlight.package.contents import collect
from rushlight.package.forms import write_package
from rushlight.package.readme import notes
from rushlight.package.sample import sample_of
from rushlight.sources import source_root

_MAIN = "int main() {"


def bake_package(
    model: Path,
    form: str,
    folder: Path,
    *,
    name: str | None = None,
    version: str = "1.0.0",
    methods: Sequence[str] = (),
    data_files: Sequence[Path] = (),
    temporary_bytes: int | None = None,
    integers: bool = True,
) -> Baked:
    """Bakes the program and writes it as a package of `form` into `folder`. The other arguments are passed to
    bake() and collect(). The result's folder and files are the package's. With `integers` the program is
    converted first, so that its quantized parts compute in integers.

    Errors: as bake(), collect() and write_package().
    """
    root = source_root()
    sample = sample_of(model, methods, data_files)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as aside:
        baked = bake(
            converted_model(model, Path(aside), integers=integers, data_files=data_files),
            scratch,
            name=name,
            methods=methods,
            data_files=data_files,
            weights="array",
            temporary_bytes=temporary_bytes,
            sample=sample if isinstance(sample, Sample) else None,
        )
        table = for_small_targets(load_table(root / "kernels" / "ops.yaml"))
        selection = Selection(table, by_dtype=True, by_calls=True)
        selection.add_yaml(Path(scratch) / "selected_operators.yaml")
        selected = selection.resolve()
        texts = {file.name: file.read_text(encoding="utf-8") for file in Path(scratch).iterdir()}
    smallest = texts.pop(f"{baked.name}_example.cpp")
    example = texts.pop(f"{baked.name}_check.cpp", smallest)
    generated = {path: text for path, text in texts.items() if path.endswith((".h", ".cpp"))}
    headers = selection_headers(table, selected)
    for header in ("rushlight/selected_dtypes.h", "rushlight/selected_backs.h"):
        generated[header] = headers[header]
    generated["rushlight/selected_kernels.h"] = selected_kernels_header(selected)
    generated["rushlight/selected_calls.h"] = selected_calls(table, selected)
    contents = collect(
        root,
        name=baked.name,
        header=f"{baked.name}.h",
        generated=generated,
        sources=sorted(
            {
                unit.path.resolve().relative_to(root.resolve()).as_posix()
                for s in selected
                for unit in s.units(table)
            }
        ),
        example=_as_function(example),
        version=version,
        notes=notes(baked, texts[f"{baked.name}.h"], _body(smallest), sample),
        sentence=f"The model {baked.name}, baked into C++ by rushlight from {comment(Path(model).name)}.",
    )
    written = write_package(contents, form, folder)
    return replace(
        baked,
        folder=folder.resolve(),
        files=tuple(file.relative_to(folder).as_posix() for file in written),
    )


def _as_function(example: str) -> str:
    """The example's main() as `int run_example()`, without the file's leading comments."""
    if example.count(_MAIN) != 1:
        raise InvalidArgument(f"the example of a baked program: expected one '{_MAIN}'")
    return _body(example).replace(_MAIN, "static int run_example() {")


def _body(example: str) -> str:
    """The file without its leading comments."""
    lines = example.split("\n")
    while lines and lines[0].startswith("//"):
        del lines[0]
    return "\n".join(lines)
