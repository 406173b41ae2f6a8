# SPDX-License-Identifier: BSD-3-Clause
"""The README of a package."""

from __future__ import annotations

import numpy as np

from rushlight.codegen.bake import Baked
from rushlight.codegen.bake.example import DIFFERS, Sample
from rushlight.codegen.bake.literals import comment
from rushlight.package.contents import Contents

_SHOWN = 8


def readme(contents: Contents, use: str) -> str:
    """Describes the package, its use (`use`, specific to the form) and which files may be edited."""
    return f"""\
# {contents.name}

{contents.sentence}

{use}

{contents.notes}Applications include `{contents.header}`, which says what the model takes and gives and how
much memory that is. Nothing allocates, throws or registers itself. `src/rushlight/settings.h` has the
settings; what the sources ask of the machine is in `src/rushlight/platform.cpp`, and an application may
define it otherwise. Link one such package into an application: two bring the same kernels.

The licence in `LICENSE` is that of rushlight's sources. It says nothing of the model's weights.
"""


def notes(baked: Baked, header: str, smallest: str, sample: Sample | str) -> str:
    """Describes sizes, a call, and its outputs. `header` is the program's, `smallest` its smallest
    application, `sample` the example's inputs and outputs, or the reason why there are none."""
    rows = [f"| constants (flash) | {baked.weights:,} |"]
    for method in baked.methods:
        rows.append(f"| arenas of `{comment(method)}` (RAM) | {baked.planned[method]:,} |")
        rows.append(f"| scratch of its kernels (RAM; methods share it) | {baked.temporary[method]:,} |")
    size = "\n".join(rows)
    tensors = "\n".join(f"- `{line}`" for line in _tensors(header))
    return f"""\
| bytes | |
|---|---:|
{size}

The code of the kernels comes on top: `rushlight size --baked` tells it for a CPU. Inputs and outputs:

{tensors}

The smallest application:

```cpp
{smallest.strip()}
```

{_expected(sample)}

"""


def _tensors(header: str) -> list[str]:
    """The inputs and outputs, from the header's structs."""
    lines = header.splitlines()
    found = []
    for at, line in enumerate(lines):
        if line.startswith("struct ") and "//" in line:
            sizes = next(text for text in lines[at:] if "kSizes[]" in text)
            shape = sizes.partition("{")[2].partition("}")[0]
            found.append(f"{line.split()[1]}: {line.partition('// ')[2]} [{shape}]")
    return found


def _expected(sample: Sample | str) -> str:
    if isinstance(sample, str):
        return f"The example runs on zeros and compares nothing: {sample}."
    told = []
    for position, array in sample.outputs.items():
        first = array.reshape(-1)[:_SHOWN]
        numbers = ", ".join(
            f"{n:.6g}" for n in (first if first.dtype.kind == "c" else first.astype(np.float64))
        )
        more = ", ..." if array.size > _SHOWN else ""
        told.append(f"- output {position}, {array.dtype.name} {list(array.shape)}: {numbers}{more}")
    return (
        f"The example runs `{comment(sample.method)}` on {sample.source} and checks the outputs: `error 0`\n"
        f"says that they are as expected, `error {DIFFERS}` that they differ. Expected:\n\n" + "\n".join(told)
    )
