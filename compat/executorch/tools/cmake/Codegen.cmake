# SPDX-License-Identifier: BSD-3-Clause
# Projects include this before they find or add ExecuTorch, which defines the file's functions here.
include("${CMAKE_CURRENT_LIST_DIR}/Utils.cmake")
