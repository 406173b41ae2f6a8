# SPDX-License-Identifier: BSD-3-Clause
# The location of this file up to ExecuTorch 0.5.
include("${CMAKE_CURRENT_LIST_DIR}/../tools/cmake/Utils.cmake")
