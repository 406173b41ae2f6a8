// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gemm_f64.h: that of gemm.h, in long double.
#pragma once

#include "kernels/ukernel/gemm_f64.h"
#include "kernels/ukernel/reference/gemm.h"

namespace rushlight::ukernel::reference {

inline void gemm_tile_f64(const GemmTileF64& tile) { gemm_tile_in<long double>(tile); }

}  // namespace rushlight::ukernel::reference
