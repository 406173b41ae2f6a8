// SPDX-License-Identifier: BSD-3-Clause
// Vectors of any length along the depth: one row by four columns at a time, whose int32 lanes are added up at
// the end.
#include <riscv_vector.h>

#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 4;
constexpr size_t kPart = kInt16Products;

inline vint16m1_t load_right(const int8_t* from, size_t lanes) {
  return __riscv_vsext_vf2_i16m1(__riscv_vle8_v_i8mf2(from, lanes), lanes);
}

// Integer sums: their order does not matter.
inline int32_t sum_of(vint32m2_t sums, size_t lanes) {
  const vint32m1_t zero = __riscv_vmv_v_x_i32m1(0, 1);
  return __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m2_i32m1(sums, zero, lanes));
}

// One row by one or four columns. The sums are separate variables, since arrays cannot hold vectors without a
// fixed size.
template <size_t kWidth>
inline void sum_row(const int16_t* left, const int8_t* right, ptrdiff_t right_stride, size_t depth,
                    int32_t* sums) {
  const size_t all = __riscv_vsetvlmax_e16m1();
  const ptrdiff_t stride = kWidth == 1 ? 0 : right_stride;
  vint32m2_t a = __riscv_vmv_v_x_i32m2(0, all), b = a, c = a, d = a;
  for (size_t k = 0, lanes = 0; k < depth; k += lanes, right += lanes) {
    lanes = __riscv_vsetvl_e16m1(depth - k);
    const vint16m1_t row = __riscv_vle16_v_i16m1(left + k, lanes);
    // Lanes past the last one keep their sums (_tu).
    a = __riscv_vwmacc_vv_i32m2_tu(a, row, load_right(right, lanes), lanes);
    if constexpr (kWidth > 1) {
      b = __riscv_vwmacc_vv_i32m2_tu(b, row, load_right(right + stride, lanes), lanes);
      c = __riscv_vwmacc_vv_i32m2_tu(c, row, load_right(right + 2 * stride, lanes), lanes);
      d = __riscv_vwmacc_vv_i32m2_tu(d, row, load_right(right + 3 * stride, lanes), lanes);
    }
  }
  sums[0] = sum_of(a, all);
  if constexpr (kWidth > 1) {
    sums[1] = sum_of(b, all);
    sums[2] = sum_of(c, all);
    sums[3] = sum_of(d, all);
  }
}

// Rows share no loads: a vector of a row is used for four columns.
template <size_t kRows, size_t kWidth>
void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
              size_t depth, int32_t* sums) {
  for (size_t i = 0; i < kRows; ++i, left += left_stride, sums += kWidth) {
    sum_row<kWidth>(left, right, right_stride, depth, sums);
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/int16_tiles.inl"
