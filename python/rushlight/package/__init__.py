# SPDX-License-Identifier: BSD-3-Clause
"""Baked programs as source packages: a folder in the form that an embedded ecosystem takes, which needs
nothing of rushlight."""

from rushlight.package.api import bake_package
from rushlight.package.contents import Contents, collect
from rushlight.package.forms import FORMS, write_package

__all__ = ["FORMS", "Contents", "bake_package", "collect", "write_package"]
