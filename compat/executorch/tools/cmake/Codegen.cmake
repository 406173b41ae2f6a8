# SPDX-License-Identifier: BSD-3-Clause
# Included by projects before they find or add ExecuTorch, which defines the functions of this file here.
include("${CMAKE_CURRENT_LIST_DIR}/Utils.cmake")
