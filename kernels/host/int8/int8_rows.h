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

// Rows in the form that is multiplied, and the bytes from row to row, or where each begins; see Int8Gemm.
struct SpreadRows {
  const void* at;
  ptrdiff_t stride;
  const ptrdiff_t* offsets = nullptr;
  size_t parts = 1;
  ptrdiff_t part_stride = 0;
};

// out[i][j] = quantized(bias[j] + sum of row i times column j), for rows that a source spreads.
struct Int8Rows {
  size_t rows;
  size_t depth;
  size_t columns;
  const void* panels;  // packed
  const int32_t* bias;
  ukernel::Requantization to;
  size_t line = 0;          // blocks that are shorter than so many rows are of one line of them each; 0: none
  size_t spread_bytes = 0;  // scratch memory in which a block is spread

  // Bytes of a spread row.
  [[nodiscard]] size_t row_bytes() const {
    return ukernel::int8_gemm_depth(depth) * ukernel::int8_spread_bytes();
  }
  // Rows that are multiplied together: what of them is spread stays near.
  [[nodiscard]] size_t block() const {
    constexpr size_t kNear = 32768;
    const size_t least = ukernel::int8_gemm_rows();
    const size_t most = std::max(kNear / std::max<size_t>(row_bytes(), 1) / least, size_t{1}) * least;
    if (line <= most) return std::min(most, std::max<size_t>(rows, 1));
    const size_t parts = (line + most - 1) / most;  // of equal sizes, but for the last
    return std::min(((line + parts - 1) / parts + least - 1) / least * least, line);
  }
  // Scratch memory of one thread, with rows of outputs that are stored later.
  [[nodiscard]] size_t scratch_bytes(bool stages) const {
    return (spread_bytes + (stages ? block() * columns : 0)) / 64 * 64 + 64;
  }
  // Of all threads.
  [[nodiscard]] char* take_scratch(KernelContext& context, bool stages) const {
    return static_cast<char*>(context.allocate_temp(scratch_bytes(stages) * context.threads(), 64));
  }
};

// The blocks of all rows.
class RowBlocks {
 public:
  explicit RowBlocks(const Int8Rows& product)
      : rows_(product.rows),
        block_(product.block()),
        line_(product.line > block_ ? product.line : std::max<size_t>(product.rows, 1)),
        in_line_((line_ + block_ - 1) / block_) {}

  [[nodiscard]] size_t count() const { return rows_ / line_ * in_line_; }
  [[nodiscard]] size_t first(size_t index) const {
    return index / in_line_ * line_ + index % in_line_ * block_;
  }
  [[nodiscard]] size_t size(size_t index) const {
    return std::min(block_, line_ - index % in_line_ * block_);
  }

 private:
  size_t rows_;
  size_t block_;
  size_t line_;  // rows that are divided alike
  size_t in_line_;
};

// Multiplies all rows, a block at a time, by as many threads as there are:
//   spread(first, count, to)  gives rows, which it may put there: spread_bytes
//   place(first, count)       where the outputs of these rows go, at equal steps, and the step; null: to
//   `store` store(first, count, from) takes outputs from there, [count][columns]
// `scratch` has scratch_bytes() for each thread. Results depend on neither blocks nor threads.
template <class Spread, class Place, class Store>
void multiply_rows(KernelContext& context, const Int8Rows& product, char* scratch, bool stages,
                   const Spread& spread, const Place& place, const Store& store) {
  const size_t each = product.scratch_bytes(stages);
  const RowBlocks blocks(product);
  const size_t width = ukernel::int8_gemm_columns();
  const size_t panels = (product.columns + width - 1) / width;
  const size_t panel_bytes = ukernel::int8_panel_bytes(product.depth);
  // Few blocks are cut by panels, which spread the rows again.
  const size_t parts = (context.threads() + blocks.count() - 1) / std::max<size_t>(blocks.count(), 1);
  const size_t cuts = stages ? 1 : std::min(panels, parts);
  const size_t per_cut = cuts == 0 ? 0 : (panels + cuts - 1) / cuts;
  context.parallel_for(blocks.count() * cuts, 1, [&](size_t begin, size_t end, size_t thread) {
    char* const own = scratch + each * thread;
    for (size_t item = begin; item < end; ++item) {
      const size_t first = blocks.first(item / cuts), count = blocks.size(item / cuts);
      const SpreadRows rows = spread(first, count, own);
      auto* const staged = reinterpret_cast<int8_t*>(own + product.spread_bytes);
      ukernel::Int8Gemm gemm;
      gemm.rows = count;
      gemm.depth = product.depth;
      gemm.left = rows.at;
      gemm.left_stride = rows.stride;
      gemm.row_offsets = rows.offsets;
      gemm.parts = rows.parts;
      gemm.part_stride = rows.part_stride;
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
