// SPDX-License-Identifier: BSD-3-Clause
// A panel is [depth][kColumns] int8; the compiler vectorizes the loops over the 16 columns. Each step
// broadcasts an element of up to four rows and widens a line of the panel; requantization is scalar.
#include "kernels/ukernel/int8_gemm.h"

#include <cstring>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 16;
constexpr size_t kRows = 4;

// Multiplies kCount rows from `first` on with the panel.
template <size_t kCount>
void multiply_rows(const Int8Gemm& p, size_t first) {
  int32_t sums[kCount][kColumns] = {};
  const int8_t* rows[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    const ptrdiff_t apart = static_cast<ptrdiff_t>(first + i) * p.left_stride;
    rows[i] =
        static_cast<const int8_t*>(p.left) + (p.row_offsets == nullptr ? apart : p.row_offsets[first + i]);
  }
  const auto* panel = static_cast<const int8_t*>(p.panel);
  const size_t depth = p.depth / p.parts;
  for (size_t part = 0; part < p.parts; ++part) {
    for (size_t k = 0; k < depth; ++k, panel += kColumns) {
      for (size_t i = 0; i < kCount; ++i) {
        const int32_t factor = rows[i][k];
        for (size_t j = 0; j < kColumns; ++j) sums[i][j] += factor * panel[j];
      }
    }
    // The panel continues through all parts.
    for (const int8_t*& row : rows) row += p.part_stride;
  }
  for (size_t i = 0; i < kCount; ++i) {
    int8_t* out = p.out + static_cast<ptrdiff_t>(first + i) * p.out_stride;
    const int32_t row_bias = p.row_bias == nullptr ? 0 : p.row_bias[first + i];
    for (size_t j = 0; j < p.columns; ++j) {
      const int32_t sum = sums[i][j] + row_bias + (p.bias == nullptr ? 0 : p.bias[j]);
      out[j] = static_cast<int8_t>(requantize(p.to, sum, j));
    }
  }
}

}  // namespace

size_t int8_gemm_depth(size_t depth) { return depth; }
size_t int8_gemm_columns() { return kColumns; }
size_t int8_gemm_rows() { return kRows; }
size_t int8_spread_bytes() { return 1; }
size_t int8_panel_bytes(size_t depth) { return (depth * kColumns + 63) / 64 * 64; }

void spread_int8(void* to, const int8_t* from, size_t count) { std::memcpy(to, from, count); }

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  auto* to = static_cast<int8_t*>(panel);
  for (size_t k = 0; k < depth; ++k, from += depth_stride, to += kColumns) {
    for (size_t j = 0; j < kColumns; ++j) {
      to[j] = j < columns ? from[static_cast<ptrdiff_t>(j) * column_stride] : int8_t{0};
    }
  }
}

void multiply_int8_gemm(const Int8Gemm& p) {
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kRows>(p, i);
  for (; i < p.rows; ++i) multiply_rows<1>(p, i);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
