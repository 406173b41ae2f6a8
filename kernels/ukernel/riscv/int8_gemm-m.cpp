// SPDX-License-Identifier: BSD-3-Clause
// RISC-V without vectors. A panel is [kBlockColumns][depth] int8; spread rows are plain copies. The product
// of int8_rows_scalar.h reads it as columns that are `depth` apart: packing only makes weights of another
// order contiguous along the depth.
#include <cstring>

#include "kernels/ukernel/int8_gemm.h"
#include "kernels/ukernel/riscv/int8_rows_scalar.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

size_t int8_gemm_depth(size_t depth) { return depth; }
size_t int8_gemm_columns() { return kBlockColumns; }
size_t int8_gemm_rows() { return kBlockRows; }
size_t int8_spread_bytes() { return 1; }
size_t int8_panel_bytes(size_t depth) { return (depth * kBlockColumns + 63) / 64 * 64; }

void spread_int8(void* to, const int8_t* from, size_t count) { std::memcpy(to, from, count); }

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  auto* to = static_cast<int8_t*>(panel);
  for (size_t j = 0; j < columns; ++j, from += column_stride) {
    const int8_t* number = from;
    for (size_t k = depth; k > 0; --k, number += depth_stride) *to++ = *number;
  }
  // Missing columns are zeros, so that tiles may compute them.
  std::memset(to, 0, (kBlockColumns - columns) * depth);
}

void multiply_int8_gemm(const Int8Gemm& p) {
  multiply_int8_rows({p.rows, p.columns, p.depth, static_cast<const int8_t*>(p.left), p.left_stride,
                      static_cast<const int8_t*>(p.panel), static_cast<ptrdiff_t>(p.depth), p.bias,
                      p.row_bias, &p.to, p.out, p.out_stride});
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
