# SPDX-License-Identifier: BSD-3-Clause
"""Measures the wheel's native module by part: code, constants and initial values in kB.

    python benchmarks/size/wheel.py build/wheel            # Markdown on stdout
    python benchmarks/size/wheel.py build/wheel --write    # also put the table into the README beside it

The folder is the build folder of the wheel (pip install . -Cbuild-dir=build/wheel), with the module and its
link map.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

from rushlight.size.components import Components
from rushlight.size.linkmap import Piece, read_map
from support import written

_MEMORY = re.compile(r"\.(text|rodata|data|eh_frame|gcc_except_table|tdata|init_array)")
_VARIANT = re.compile(r"-(\w+)\.cpp$")
_PARTS = {
    "kernels/operators": "operators, portable code",
    "kernels/host": "kernels for hosts",
    "kernels": "code that operators share",
    "runtime/llm": "language models",
    "runtime/module": "modules: loading, threads, parallel calls",
    "runtime": "runtime",
    "library librushlight_rewriter.a": "rewriting at load",
    "library librushlight_calls.a": "rewriting at load",
    "library librushlight_backend_XnnpackBackend.a": "XNNPACK payloads",
    "generated table": "operator table",
    "application": "Python bindings",
    "dynamic linking": "dynamic linking",
}


def part_of(components: Components, piece: Piece) -> str:
    """The row of the table that counts a piece."""
    component, source = components.of(piece), components.source(piece)
    if component.startswith("kernels/ukernel") or "/kernels/ukernel/" in source:
        variant = _VARIANT.search(source)
        return f"microkernels, {variant[1] if variant else 'baseline'}"
    if source.startswith("backends/"):
        return "XNNPACK payloads" if "xnnpack" in source else "rewriting at load"
    found = (name for prefix, name in _PARTS.items() if component.startswith(prefix))
    return next(found, "other")


def table(folder: Path) -> str:
    """The parts, the largest first, and the sizes of the sections' sum and of the file."""
    (module,) = (folder / "python" / "bindings").glob("_runtime*.so")
    components = Components(folder)
    sizes: Counter[str] = Counter()
    for piece in read_map(Path(f"{module}.map")):
        if _MEMORY.match(piece.section):
            sizes[part_of(components, piece)] += piece.size
    rows = [*sizes.most_common(), ("file, stripped", module.stat().st_size)]
    lines = ["| part | kB |", "|---|---:|", *(f"| {name} | {size / 1000:.0f} |" for name, size in rows)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    markdown = table(options.folder)
    print(markdown)
    if options.write:
        written.write(Path(__file__).with_name("README.md"), "wheel", markdown)


if __name__ == "__main__":
    main()
