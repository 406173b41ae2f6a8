// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length: as many elements at a time as eight registers hold sums of. A broadcast
// operand is part of a constant: the elements that are read in its stead are multiplied by 0.
#include "kernels/ukernel/generic/rescaled_sum.inl"
#include "kernels/ukernel/int8_elementwise.h"
#include "kernels/ukernel/riscv/quantize_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// element * factor + offset, for the elements from `at` on.
struct Operand {
  const int8_t* at;
  int32_t factor;
  int32_t offset;

  // `lanes` elements from element i on, widened to 32 bits.
  vint32m8_t load(size_t i, size_t lanes) const {
    return __riscv_vsext_vf4_i32m8(__riscv_vle8_v_i8m2(at + i, lanes), lanes);
  }
};

// A broadcast element becomes the offset; the factor is 0 then, and `out` is a valid address to read.
Operand operand_of(const RowInput& input, size_t row, const int8_t* out, int32_t factor, int32_t offset) {
  const auto* at = static_cast<const int8_t*>(input.data) + static_cast<ptrdiff_t>(row) * input.stride;
  if (!input.one) return {at, factor, offset};
  return {out, 0, *at * factor + offset};
}

int8_t* out_of(const Rows& rows, size_t row) {
  return static_cast<int8_t*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride;
}

// The sum fits in 32 bits, which the caller has checked. The clamp comes before the values are narrowed.
void add_row(const Operand& a, const Operand& b, const QuantizedSum& sum, size_t count, int8_t* out) {
  const int32_t offset = a.offset + b.offset;
  const auto shift = static_cast<size_t>(sum.shift);
  for (size_t i = 0, lanes; i < count; i += lanes) {
    lanes = __riscv_vsetvl_e32m8(count - i);
    vint32m8_t value = __riscv_vmul_vx_i32m8(a.load(i, lanes), a.factor, lanes);
    value = __riscv_vmacc_vx_i32m8(value, b.factor, b.load(i, lanes), lanes);
    value = __riscv_vsra_vx_i32m8(__riscv_vadd_vx_i32m8(value, offset, lanes), shift, lanes);
    value = __riscv_vadd_vx_i32m8(value, sum.zero_point, lanes);
    value = __riscv_vmin_vx_i32m8(__riscv_vmax_vx_i32m8(value, sum.low, lanes), sum.high, lanes);
    const vint16m4_t halves = __riscv_vncvt_x_x_w_i16m4(value, lanes);
    __riscv_vse8_v_i8m2(out + i, __riscv_vncvt_x_x_w_i8m2(halves, lanes), lanes);
  }
}

}  // namespace

void add_int8(const Rows& rows, const QuantizedSum& given) {
  const QuantizedSum sum = given;  // a copy, which stores cannot alias
  for (size_t row = 0; row < rows.count; ++row) {
    int8_t* out = out_of(rows, row);
    const Operand a = operand_of(rows.in[0], row, out, sum.multipliers[0], sum.offset);
    const Operand b = operand_of(rows.in[1], row, out, sum.multipliers[1], 0);
    add_row(a, b, sum, rows.n, out);
  }
}

void multiply_int8_pairs(const Rows& rows, const QuantizedProduct& product) {
  Block block;
  block.to = &product.to;
  block.rows = 1;
  const size_t most = most_lanes();
  for (size_t row = 0; row < rows.count; ++row) {
    int8_t* out = out_of(rows, row);
    const Operand a = operand_of(rows.in[0], row, out, 1, -product.zero_points[0]);
    const Operand b = operand_of(rows.in[1], row, out, 1, -product.zero_points[1]);
    for (size_t i = 0; i < rows.n; i += block.columns) {
      const size_t lanes = rows.n - i < most ? rows.n - i : most;
      // The operand less its zero point.
      const auto number = [&](const Operand& of) {
        return __riscv_vadd_vx_i32m8(__riscv_vmul_vx_i32m8(of.load(i, lanes), of.factor, lanes), of.offset,
                                     lanes);
      };
      __riscv_vse32_v_i32m8(block.sums, __riscv_vmul_vv_i32m8(number(a), number(b), lanes), lanes);
      block.columns = lanes;
      block.out = out + i;
      quantize_block(block);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
