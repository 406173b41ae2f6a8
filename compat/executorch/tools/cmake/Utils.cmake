# SPDX-License-Identifier: BSD-3-Clause
# ExecuTorch's helpers for projects, as far as there is something to do.
include("${CMAKE_CURRENT_LIST_DIR}/../../../../cmake/official_helpers.cmake")
