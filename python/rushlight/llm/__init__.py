# SPDX-License-Identifier: BSD-3-Clause
"""Language models: from files with weights to programs."""

from __future__ import annotations

from rushlight.llm.export import LlmProgram, export

__all__ = ["LlmProgram", "export"]
