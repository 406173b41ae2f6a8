// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gemm_bf16.h, for panels of the variant in use.
#pragma once

#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/reference/narrow_gemm.h"

namespace rushlight::ukernel::reference {

inline void gemm_tile_bf16(const GemmTile16& tile) {
  gemm_tile_narrow(tile, 7, gemm_group_bf16(), gemm_columns_bf16());
}

}  // namespace rushlight::ukernel::reference
