# SPDX-License-Identifier: BSD-3-Clause
"""The exporter's passes, one per file; `rushlight.export.pipeline` has their order."""

from rushlight.export.passes.base import FunctionPass, Pass, PassContext

__all__ = ["FunctionPass", "Pass", "PassContext"]
