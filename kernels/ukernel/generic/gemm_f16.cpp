// SPDX-License-Identifier: BSD-3-Clause
// For processors without products of float16: callers convert to float32.
#include "kernels/ukernel/gemm_f16.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

bool gemm_has_f16() { return false; }
size_t gemm_rows_f16() { return 1; }
size_t gemm_columns_f16() { return 1; }
void gemm_tile_f16(const GemmTile16&) {}
void gemm_pack_f16(uint16_t*, const uint16_t*, ptrdiff_t, ptrdiff_t, size_t, size_t) {}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
