// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: four sums at a time in 10 instructions. Products are stored as blocks of 32 bits, which
// requantize_mve.h quantizes as rows of 16 columns. A broadcast operand is part of a constant: the elements
// that are read in its stead are multiplied by 0.
#include "kernels/ukernel/arm/requantize_mve.h"
#include "kernels/ukernel/generic/rescaled_sum.inl"
#include "kernels/ukernel/int8_elementwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kBlock = 128;  // products in a block: 512 bytes of stack

// element * factor + offset, for the elements from `at` on.
struct Operand {
  const int8_t* at;
  int32_t factor;
  int32_t offset;
};

// A broadcast element becomes the offset; the factor is 0 then, and `out` is a valid address to read.
Operand operand_of(const RowInput& input, size_t row, const int8_t* out, int32_t factor, int32_t offset) {
  const auto* at = static_cast<const int8_t*>(input.data) + static_cast<ptrdiff_t>(row) * input.stride;
  if (!input.one) return {at, factor, offset};
  return {out, 0, *at * factor + offset};
}

// Stores the products of `count` elements, both with their zero points subtracted, 4 at a time; the loop is
// tail-predicated.
void multiply_block(const Operand& a, const Operand& b, size_t count, int32_t* products) {
  const int8_t* first = a.at;
  const int8_t* second = b.at;
  asm volatile(
      "vdup.32 q2, %[factor_a]\n"
      "vdup.32 q3, %[factor_b]\n"
      "wlstp.32 lr, %[count], 2f\n"
      "1:\n"
      "vldrb.s32 q0, [%[a]], #4\n"
      "vldrb.s32 q1, [%[b]], #4\n"
      "vmlas.s32 q0, q2, %[offset_a]\n"
      "vmlas.s32 q1, q3, %[offset_b]\n"
      "vmul.i32 q0, q0, q1\n"
      "vstrw.32 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      "2:\n"
      : [a] "+l"(first), [b] "+l"(second), [to] "+r"(products)
      : [count] "r"(count), [factor_a] "r"(a.factor), [factor_b] "r"(b.factor), [offset_a] "r"(a.offset),
        [offset_b] "r"(b.offset)
      : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
}

void add_row(const Operand& a, const Operand& b, const QuantizedSum& sum, size_t count, int8_t* out) {
  const int8_t* first = a.at;
  const int8_t* second = b.at;
  const int32x4_t factor = vdupq_n_s32(a.factor), low = vdupq_n_s32(sum.low), high = vdupq_n_s32(sum.high);
  asm volatile(
      "wlstp.32 lr, %[count], 2f\n"
      "1:\n"
      "vldrb.s32 q0, [%[a]], #4\n"
      "vldrb.s32 q1, [%[b]], #4\n"
      "vmlas.s32 q0, %q[factor], %[offset]\n"
      "vmla.s32 q0, q1, %[factor_b]\n"
      "vshl.s32 q0, %[shift]\n"
      "vadd.i32 q0, q0, %[zero]\n"
      "vmax.s32 q0, q0, %q[low]\n"
      "vmin.s32 q0, q0, %q[high]\n"
      "vstrb.32 q0, [%[out]], #4\n"
      "letp lr, 1b\n"
      "2:\n"
      : [a] "+l"(first), [b] "+l"(second), [out] "+l"(out)
      : [count] "r"(count), [factor] "w"(factor), [low] "w"(low), [high] "w"(high), [factor_b] "r"(b.factor),
        [offset] "r"(a.offset + b.offset), [shift] "r"(-sum.shift), [zero] "r"(sum.zero_point)
      : "q0", "q1", "lr", "cc", "memory");
}

// Row `row` of the result.
int8_t* out_of(const Rows& rows, size_t row) {
  return static_cast<int8_t*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride;
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
  int32_t products[kBlock];
  Quantizer quantizer(product.to, nullptr);  // one column for all elements
  for (size_t row = 0; row < rows.count; ++row) {
    int8_t* out = out_of(rows, row);
    Operand a = operand_of(rows.in[0], row, out, 1, -product.zero_points[0]);
    Operand b = operand_of(rows.in[1], row, out, 1, -product.zero_points[1]);
    for (size_t i = 0; i < rows.n; i += kBlock, a.at += kBlock, b.at += kBlock) {
      const size_t count = rows.n - i < kBlock ? rows.n - i : kBlock;
      multiply_block(a, b, count, products);
      const size_t rows_of_16 = count / kSumColumns, done = rows_of_16 * kSumColumns;
      // Rows of 16 products first, then the rest as one shorter row.
      quantizer.set_columns(0, kSumColumns);
      quantizer.quantize({products, 1, kRowsOf16, rows_of_16, out + i, kSumColumns});
      if (count == done) continue;
      quantizer.set_columns(0, count - done);
      quantizer.quantize({products + done, 1, kRowsOf16, 1, out + i + done, kSumColumns});
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
