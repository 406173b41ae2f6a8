# SPDX-License-Identifier: BSD-3-Clause
"""Writes baked programs as source packages: a folder in the layout of an embedded ecosystem, independent of
rushlight."""

from rushlight.package.api import bake_package
from rushlight.package.contents import Contents, collect
from rushlight.package.forms import FORMS, write_package

__all__ = ["FORMS", "Contents", "bake_package", "collect", "write_package"]
