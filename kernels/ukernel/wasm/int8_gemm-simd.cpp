// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 with WebAssembly's i32x4.dot_i16x8_s: 2 elements of a row with 2 elements of each of 4
// columns. Spread rows are int16; a panel is [depth / 2][8 columns][2] int8, widened as it is loaded. 8 sums
// and their operands fit in the 16 registers of x86.
#include <cstring>

#include "kernels/ukernel/int8_gemm.h"
#include "kernels/ukernel/wasm/requantize_simd.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;
constexpr size_t kDepthBlock = 4;  // elements of the depth in a pass of the loop

size_t whole_depth(size_t depth) { return (depth + kDepthBlock - 1) / kDepthBlock * kDepthBlock; }

// kCount rows by 8 columns; an operand of a row is a broadcast pair.
template <size_t kCount>
void multiply_rows(const Int8Gemm& p, const BlockQuantizer& q, size_t first) {
  v128_t sums[kCount][2];
  const int16_t* rows[kCount];
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
    const auto* left = static_cast<const char*>(p.left) + static_cast<ptrdiff_t>(first + i) * p.left_stride;
    rows[i] = reinterpret_cast<const int16_t*>(left);
    const v128_t row_bias = wasm_i32x4_splat(p.row_bias == nullptr ? 0 : p.row_bias[first + i]);
    sums[i][0] = wasm_i32x4_add(wasm_v128_load(q.bias), row_bias);
    sums[i][1] = wasm_i32x4_add(wasm_v128_load(q.bias + 4), row_bias);
  }
  const auto* panel = static_cast<const int8_t*>(p.panel);
  for (size_t k = 0; k < p.depth; k += kDepthBlock) {
    RL_UNROLL for (size_t pair = 0; pair < kDepthBlock; pair += 2, panel += 2 * kBlock) {
      // Widens 4 columns with 2 elements each, twice.
      const v128_t low = wasm_i16x8_load8x8(panel), high = wasm_i16x8_load8x8(panel + kBlock);
      RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
        const v128_t left = wasm_v128_load32_splat(rows[i] + k + pair);
        sums[i][0] = wasm_i32x4_add(sums[i][0], wasm_i32x4_dot_i16x8(left, low));
        sums[i][1] = wasm_i32x4_add(sums[i][1], wasm_i32x4_dot_i16x8(left, high));
      }
    }
  }
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
    int8_t* out = p.out + static_cast<ptrdiff_t>(first + i) * p.out_stride;
    store_some(out, quantize(q, sums[i][0], sums[i][1]), p.columns);
  }
}

}  // namespace

size_t int8_gemm_depth(size_t depth) { return whole_depth(depth); }
size_t int8_gemm_columns() { return kBlock; }
size_t int8_gemm_rows() { return kRows; }
size_t int8_spread_bytes() { return sizeof(int16_t); }
size_t int8_panel_bytes(size_t depth) { return (whole_depth(depth) * kBlock + 63) / 64 * 64; }

// Widens to int16, since the product takes no bytes.
void spread_int8(void* to, const int8_t* from, size_t count) {
  auto* out = static_cast<char*>(to);
  for (; count >= 8; count -= 8, from += 8, out += 16) wasm_v128_store(out, wasm_i16x8_load8x8(from));
  for (; count > 0; --count, ++from, out += 2) {
    const int16_t number = *from;
    std::memcpy(out, &number, sizeof(number));
  }
}

// Pairs of the depth are adjacent; the depth is padded to kDepthBlock with zeros.
void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  auto* to = static_cast<int8_t*>(panel);
  const size_t end = whole_depth(depth);
  for (size_t k = 0; k < end; ++k, from += depth_stride) {
    int8_t* line = to + k / 2 * 2 * kBlock + k % 2;
    for (size_t j = 0; j < kBlock; ++j) {
      line[2 * j] = j < columns && k < depth ? from[static_cast<ptrdiff_t>(j) * column_stride] : int8_t{0};
    }
  }
}

void multiply_int8_gemm(const Int8Gemm& p) {
  BlockQuantizer q;
  prepare(q, p.to, p.bias, 0, p.columns);
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kRows>(p, q, i);
  for (; i < p.rows; ++i) multiply_rows<1>(p, q, i);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
