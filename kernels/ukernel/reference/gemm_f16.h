// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gemm_f16.h, for panels of the variant in use.
#pragma once

#include "kernels/ukernel/gemm_f16.h"
#include "kernels/ukernel/reference/gemm_bf16.h"

namespace rushlight::ukernel::reference {

inline void gemm_tile_f16(const GemmTile16& tile) { gemm_tile_narrow(tile, 10, 1, gemm_columns_f16()); }

}  // namespace rushlight::ukernel::reference
