# SPDX-License-Identifier: BSD-3-Clause
"""The README of a package."""

from __future__ import annotations

from rushlight.devtools.package.contents import Contents


def readme(contents: Contents, use: str) -> str:
    """Says what the package is, how it is used (`use`, in the form's own words) and what may be edited."""
    return f"""\
# {contents.name}

{contents.sentence}

{use}

Applications include `{contents.header}`, which says what the model takes and gives and how much memory that
is. Nothing allocates, throws or registers itself. `src/rushlight/settings.h` has the settings; what the
sources ask of the machine is in `src/rushlight/platform.cpp`, and an application may define it otherwise.
Link one such package into an application: two bring the same kernels.

The licence in `LICENSE` is that of rushlight's sources. It says nothing of the model's weights.
"""
