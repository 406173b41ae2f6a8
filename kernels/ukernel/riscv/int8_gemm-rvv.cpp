// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length. A panel is [depth][columns] int8, with as many columns as eight
// registers hold sums of, at most kMostLanes. Spread rows are plain copies.
#include <cstring>

#include "kernels/ukernel/int8_gemm.h"
#include "kernels/ukernel/riscv/int8_rows_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

size_t int8_gemm_depth(size_t depth) { return depth; }
size_t int8_gemm_columns() { return most_lanes(); }
size_t int8_gemm_rows() { return 6; }
size_t int8_spread_bytes() { return 1; }
size_t int8_panel_bytes(size_t depth) { return (depth * int8_gemm_columns() + 63) / 64 * 64; }

void spread_int8(void* to, const int8_t* from, size_t count) { std::memcpy(to, from, count); }

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  const size_t most = int8_gemm_columns();  // at most the lanes of e8m2
  const vint8m2_t zeros = __riscv_vmv_v_x_i8m2(0, most);
  auto* to = static_cast<int8_t*>(panel);
  for (size_t k = 0; k < depth; ++k, from += depth_stride, to += most) {
    vint8m2_t numbers;
    // Lanes past `columns` keep the zeros (_tu).
    if (column_stride == 1) {
      numbers = __riscv_vle8_v_i8m2_tu(zeros, from, columns);
    } else {
      numbers = __riscv_vlse8_v_i8m2_tu(zeros, from, column_stride, columns);
    }
    __riscv_vse8_v_i8m2(to, numbers, most);
  }
}

void multiply_int8_gemm(const Int8Gemm& p) {
  multiply_int8_rows<false>({p.rows, p.columns, p.depth, static_cast<const int8_t*>(p.left), p.left_stride,
                             static_cast<const int8_t*>(p.panel), static_cast<ptrdiff_t>(int8_gemm_columns()),
                             p.bias, p.row_bias, &p.to, p.out, p.out_stride});
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
