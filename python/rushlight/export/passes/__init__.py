# SPDX-License-Identifier: BSD-3-Clause
"""The passes of the exporter, one a file; `rushlight.export.pipeline` says their order."""

from rushlight.export.passes.base import FunctionPass, Pass, PassContext

__all__ = ["FunctionPass", "Pass", "PassContext"]
