# SPDX-License-Identifier: BSD-3-Clause
# ExecuTorch's helper functions for projects, as far as they apply.
include("${CMAKE_CURRENT_LIST_DIR}/../../../../cmake/official_helpers.cmake")
