// SPDX-License-Identifier: BSD-3-Clause
// Rows of int8 times a packed matrix: what convolutions and linear layers of integers have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/quantization/requantization.h"
#include "kernels/ukernel/int8_gemm.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// For layout_number().
inline constexpr uint64_t kInt8Layout = 0x8b17;

// A matrix [depth][columns] of int8, by strides.
struct Int8Matrix {
  const int8_t* data;
  ptrdiff_t depth_stride;
  ptrdiff_t column_stride;
  size_t depth;
  size_t columns;

  [[nodiscard]] size_t panels() const {
    return (columns + ukernel::int8_gemm_columns() - 1) / ukernel::int8_gemm_columns();
  }
  [[nodiscard]] size_t packed_bytes() const { return panels() * ukernel::int8_panel_bytes(depth); }
  void pack(void* to) const;
};

// out[i][j] = quantized(bias[j] + sum of row i times column j), for rows that a source spreads.
struct Int8Rows {
  size_t rows;
  size_t depth;
  size_t columns;
  const void* panels;  // packed
  const int32_t* bias;
  ukernel::Requantization to;

  // Bytes of a spread row.
  [[nodiscard]] size_t row_bytes() const {
    return ukernel::int8_gemm_depth(depth) * ukernel::int8_spread_bytes();
  }
  // Rows that are multiplied together: what of them is spread stays near.
  [[nodiscard]] size_t block() const {
    constexpr size_t kNear = 32768;
    const size_t least = ukernel::int8_gemm_rows();
    return std::min(std::max(kNear / std::max<size_t>(row_bytes(), 1) / least, size_t{1}) * least,
                    std::max<size_t>(rows, 1));
  }
  // Scratch memory of one thread, with rows of outputs that are stored later.
  [[nodiscard]] size_t scratch_bytes(bool stages) const {
    return (block() * row_bytes() + (stages ? block() * columns : 0)) / 64 * 64 + 64;
  }
  // Of all threads.
  [[nodiscard]] char* take_scratch(KernelContext& context, bool stages) const {
    return static_cast<char*>(context.allocate_temp(scratch_bytes(stages) * context.threads(), 64));
  }
};

// Multiplies all rows, a block at a time, by as many threads as there are:
//   spread(first, count, to)  puts rows there, row_bytes() each
//   place(first, count)       where the outputs of these rows go, at equal steps, and the step; null: to
//   `store` store(first, count, from) takes outputs from there, [count][columns]
// `scratch` has scratch_bytes() for each thread. Results depend on neither blocks nor threads.
template <class Spread, class Place, class Store>
void multiply_rows(KernelContext& context, const Int8Rows& product, char* scratch, bool stages,
                   const Spread& spread, const Place& place, const Store& store) {
  const size_t each = product.scratch_bytes(stages);
  const size_t block = product.block();
  const size_t blocks = (product.rows + block - 1) / block;
  const size_t width = ukernel::int8_gemm_columns();
  const size_t panels = (product.columns + width - 1) / width;
  const size_t panel_bytes = ukernel::int8_panel_bytes(product.depth);
  // Few blocks are cut by panels, which spread the rows again.
  const size_t cuts =
      stages ? 1 : std::min(panels, (context.threads() + blocks - 1) / std::max<size_t>(blocks, 1));
  const size_t per_cut = cuts == 0 ? 0 : (panels + cuts - 1) / cuts;
  context.parallel_for(blocks * cuts, 1, [&](size_t begin, size_t end, size_t thread) {
    char* const rows = scratch + each * thread;
    for (size_t item = begin; item < end; ++item) {
      const size_t first = item / cuts * block;
      const size_t count = std::min(block, product.rows - first);
      spread(first, count, rows);
      auto* const staged = reinterpret_cast<int8_t*>(rows + block * product.row_bytes());
      ukernel::Int8Gemm gemm;
      gemm.rows = count;
      gemm.depth = product.depth;
      gemm.left = rows;
      gemm.left_stride = static_cast<ptrdiff_t>(product.row_bytes());
      int8_t* out = staged;
      gemm.out_stride = static_cast<ptrdiff_t>(product.columns);
      if (!stages) out = place(first, &gemm.out_stride);
      const size_t last = std::min((item % cuts + 1) * per_cut, panels);
      for (size_t panel = item % cuts * per_cut; panel < last; ++panel) {
        const size_t column = panel * width;
        gemm.columns = std::min(width, product.columns - column);
        gemm.panel = static_cast<const char*>(product.panels) + panel * panel_bytes;
        gemm.bias = product.bias == nullptr ? nullptr : product.bias + column;
        gemm.to = columns_from(product.to, column);
        gemm.out = out + column;
        ukernel::multiply_int8_gemm(gemm);
      }
      if (stages) store(first, count, staged);
    }
  });
}

// So many matrices, `stride` elements apart, packed one after the other.
void pack_panels(const Int8Matrix& first, size_t count, ptrdiff_t stride, void* to);

// For prepare functions: packs constants. `scratch` is what calls take besides; others are packed there, too.
void prepare_panels(KernelContext& context, const Int8Matrix& first, size_t count, ptrdiff_t stride,
                    bool is_constant, size_t scratch);

// What was packed at load, or is packed now, in scratch memory; null without that.
[[nodiscard]] const void* packed_panels(KernelContext& context, const Int8Matrix& first, size_t count,
                                        ptrdiff_t stride);

}  // namespace rushlight::kernels::host
