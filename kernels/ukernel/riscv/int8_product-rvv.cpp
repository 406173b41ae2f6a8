// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length. If there are more rows than columns, lanes are rows: three columns share
// the loads, and multiplier and shift are scalars. Otherwise lanes are columns.
#include "kernels/ukernel/int8_product.h"
#include "kernels/ukernel/riscv/int8_rows_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 3;

// kCount columns from `column` on, by as many rows as eight registers hold sums of.
template <size_t kCount>
inline void multiply_columns(const Int8Product& p, size_t row, size_t lanes, size_t column) {
  const int32_t* bias = p.bias == nullptr ? nullptr : p.bias + column;
  const auto start = [&](size_t c) {
    return __riscv_vmv_v_x_i32m8(bias == nullptr || c >= kCount ? 0 : bias[c], lanes);
  };
  vint32m8_t a = start(0), b = start(1), c = start(2);
  const int8_t* first = p.right + static_cast<ptrdiff_t>(column) * p.right_stride;
  const int8_t* second = first + p.right_stride;
  const int8_t* third = second + p.right_stride;
  const int8_t* left = p.left + static_cast<ptrdiff_t>(row) * p.left_stride;
  for (size_t part = p.parts; part > 0; --part, left += p.part_stride) {
    const int8_t* from = left;
#pragma clang loop unroll_count(4)
    for (size_t k = p.depth; k > 0; --k) {
      const vint16m4_t numbers =
          __riscv_vsext_vf2_i16m4(__riscv_vlse8_v_i8m2(from++, p.left_stride, lanes), lanes);
      a = __riscv_vwmacc_vx_i32m8(a, *first++, numbers, lanes);
      if constexpr (kCount > 1) b = __riscv_vwmacc_vx_i32m8(b, *second++, numbers, lanes);
      if constexpr (kCount > 2) c = __riscv_vwmacc_vx_i32m8(c, *third++, numbers, lanes);
    }
  }
  int8_t* out = p.out + static_cast<ptrdiff_t>(row) * p.out_stride + static_cast<ptrdiff_t>(column);
  // A column's results are out_stride apart: a strided store.
  const auto store = [&](vint32m8_t sums, size_t i) {
    const ptrdiff_t at = p.to.step * static_cast<ptrdiff_t>(column + i);
    const vint8m2_t numbers =
        quantize_small(sums, p.to.multipliers[at], static_cast<size_t>(-1 - p.to.shifts[at]), p.to, lanes);
    __riscv_vsse8_v_i8m2(out + i, p.out_stride, numbers, lanes);
  };
  store(a, 0);
  if constexpr (kCount > 1) store(b, 1);
  if constexpr (kCount > 2) store(c, 2);
}

// Columns by threes, then the last one or two.
void multiply_few_columns(const Int8Product& p, size_t row, size_t lanes) {
  size_t j = 0;
  for (; j + kColumns <= p.columns; j += kColumns) multiply_columns<kColumns>(p, row, lanes, j);
  if (p.columns - j == 2) multiply_columns<2>(p, row, lanes, j);
  if (p.columns - j == 1) multiply_columns<1>(p, row, lanes, j);
}

// Lanes are rows while more rows than columns are left, then columns.
void multiply_line(const Int8Product& p) {
  size_t row = 0;
  // So few columns would leave half of the lanes or more empty.
  if (p.columns <= most_lanes() / 2 && p.columns < p.rows && has_small_scales(p.to, 0, p.columns)) {
    for (size_t lanes; p.rows - row > p.columns; row += lanes) {
      lanes = p.rows - row < most_lanes() ? p.rows - row : most_lanes();
      multiply_few_columns(p, row, lanes);
    }
  }
  const int8_t* left = p.left + static_cast<ptrdiff_t>(row) * p.left_stride;
  int8_t* out = p.out + static_cast<ptrdiff_t>(row) * p.out_stride;
  multiply_int8_rows<true>({p.rows - row, p.columns, p.depth, left, p.left_stride, p.right, p.right_stride,
                            p.bias, nullptr, &p.to, out, p.out_stride, p.parts, p.part_stride});
}

}  // namespace

void multiply_int8(const Int8Product& p) { for_each_line(p, multiply_line); }

void multiply_int8_row(const Int8Row& p) {
  const Int8Rows rows = {1,       p.columns, p.depth, p.left,  0, p.right, p.right_stride,
                         nullptr, nullptr,   nullptr, nullptr, 0};
  const int8_t* left[3] = {p.left, p.left, p.left};
  for (size_t j = 0, lanes; j < p.columns; j += lanes) {
    // Sums go straight to the result, without requantization.
    lanes = p.columns - j < most_lanes() ? p.columns - j : most_lanes();
    sum_wide<true, 1>(rows, left, j, lanes, p.sums + j);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
