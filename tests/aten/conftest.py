# SPDX-License-Identifier: BSD-3-Clause
from support.cmake_build import build

__all__ = ["build"]
