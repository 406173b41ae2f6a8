// SPDX-License-Identifier: BSD-3-Clause
// For processors without products of bfloat16: callers convert to float32.
#include "kernels/ukernel/gemm_bf16.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

bool gemm_has_bf16() { return false; }
size_t gemm_rows_bf16() { return 1; }
size_t gemm_columns_bf16() { return 1; }
size_t gemm_group_bf16() { return 1; }
void gemm_tile_bf16(const GemmTile16&) {}
void gemm_pack_bf16(uint16_t*, const uint16_t*, ptrdiff_t, ptrdiff_t, size_t, size_t) {}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
