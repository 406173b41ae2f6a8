// SPDX-License-Identifier: BSD-3-Clause
// Rows of int8 times a packed matrix, in blocks and on several threads: the common part of quantized
// convolutions and linear layers. A block of rows is spread (copied to the layout of the microkernel) once
// and multiplied by all panels while it is in the L1 cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/quantization/requantization.h"
#include "kernels/ukernel/int8_gemm.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Identifies the packed layout in layout_id(), so that weights that another kernel packed are not taken for
// these.
inline constexpr uint64_t kInt8Layout = 0x8b17;

// A matrix [depth][columns] of int8 with any strides, in elements. Does not own the data. pack() writes
// packed_bytes(), aligned to 64.
struct Int8Matrix {
  const int8_t* data;
  ptrdiff_t depth_stride;
  ptrdiff_t column_stride;
  size_t depth;
  size_t columns;

  // Panels of int8_gemm_columns() columns; the last one is padded.
  [[nodiscard]] size_t panels() const {
    return (columns + ukernel::int8_gemm_columns() - 1) / ukernel::int8_gemm_columns();
  }
  [[nodiscard]] size_t packed_bytes() const { return panels() * ukernel::int8_panel_bytes(depth); }
  void pack(void* to) const;
};

// Rows in the spread form that the microkernel multiplies: a byte stride, or an offset for each row; see
// Int8Gemm. `at` is the first row. With several parts a row consists of as many spans, `part_stride` bytes
// apart.
struct SpreadRows {
  const void* at;
  ptrdiff_t stride;
  const ptrdiff_t* offsets = nullptr;
  size_t parts = 1;
  ptrdiff_t part_stride = 0;
};

// out[i][j] = requantize(bias[j] + sum over k of row[i][k] * matrix[k][j]). The problem without its rows,
// which spread() of multiply_rows() provides.
struct Int8Rows {
  size_t rows;
  size_t depth;
  size_t columns;
  const void* panels;  // packed
  const int32_t* bias;
  ukernel::Requantization to;
  size_t line = 0;          // if larger than a block, blocks lie within lines of this length; 0: none
  size_t spread_bytes = 0;  // scratch memory for the spread rows of a block

  // Bytes of a spread row.
  [[nodiscard]] size_t row_bytes() const {
    return ukernel::int8_gemm_depth(depth) * ukernel::int8_spread_bytes();
  }
  // Rows that are multiplied together: their spread form fits in 32 KiB.
  [[nodiscard]] size_t block() const {
    constexpr size_t kNear = 32768;
    const size_t least = ukernel::int8_gemm_rows();
    const size_t most = std::max(kNear / std::max<size_t>(row_bytes(), 1) / least, size_t{1}) * least;
    if (line <= most) return std::min(most, std::max<size_t>(rows, 1));
    // Sizes are whole multiples of the rows that the microkernel computes together.
    const size_t parts = (line + most - 1) / most;  // equal sizes, except the last
    return std::min(((line + parts - 1) / parts + least - 1) / least * least, line);
  }
  // Bytes of scratch memory of one thread; with `stages` including a block of outputs that are stored later.
  [[nodiscard]] size_t scratch_bytes(bool stages) const {
    return (spread_bytes + (stages ? block() * columns : 0)) / 64 * 64 + 64;
  }
  // Allocates it for every thread; null if memory is exhausted.
  [[nodiscard]] char* take_scratch(KernelContext& context, bool stages) const {
    return static_cast<char*>(context.allocate_temp(scratch_bytes(stages) * context.threads(), 64));
  }
};

// The division of all rows into blocks: [first(i), first(i) + size(i)). Lines longer than a block are divided
// separately, so that no block crosses the end of one.
class RowBlocks {
 public:
  explicit RowBlocks(const Int8Rows& product)
      : rows_(product.rows),
        block_(product.block()),
        line_(product.line > block_ ? product.line : std::max<size_t>(product.rows, 1)),
        in_line_((line_ + block_ - 1) / block_) {}

  // Number of blocks of all lines, and the first row and the number of rows of block `index`.
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
  size_t line_;  // rows that are divided in the same way
  size_t in_line_;
};

// Multiplies all rows, a block at a time, on all threads:
//   spread(first, count, to)  returns these rows in spread form; it may write them to `to` (spread_bytes)
//   target(first, &step)       returns the address of the outputs of row `first`, and their stride
//   store(first, count, from) with `stages` instead of target(): stores outputs from [count][columns]
// `scratch` has scratch_bytes() for each thread. Results do not depend on blocks or threads.
template <class Spread, class Target, class Store>
void multiply_rows(KernelContext& context, const Int8Rows& product, char* scratch, bool stages,
                   const Spread& spread, const Target& target, const Store& store) {
  const size_t each = product.scratch_bytes(stages);
  const RowBlocks blocks(product);
  // Sizes of the packed weights, and the division of the work: an item is a block of rows and a cut of the
  // panels.
  const size_t width = ukernel::int8_gemm_columns();
  const size_t panels = (product.columns + width - 1) / width;
  const size_t panel_bytes = ukernel::int8_panel_bytes(product.depth);
  // If blocks are fewer than threads, their panels are divided too, and each part spreads the rows again.
  const size_t parts = (context.threads() + blocks.count() - 1) / std::max<size_t>(blocks.count(), 1);
  const size_t cuts = stages ? 1 : std::min(panels, parts);
  const size_t per_cut = cuts == 0 ? 0 : (panels + cuts - 1) / cuts;
  context.parallel_for(blocks.count() * cuts, 1, [&](size_t begin, size_t end, size_t thread) {
    char* const own = scratch + each * thread;
    for (size_t item = begin; item < end; ++item) {
      const size_t first = blocks.first(item / cuts), count = blocks.size(item / cuts);
      const SpreadRows rows = spread(first, count, own);
      // Outputs of the block, if they are stored after all panels have been multiplied.
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
      if (!stages) out = target(first, &gemm.out_stride);
      // Panels of this cut; each gives `width` adjacent output columns.
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

// Packs `count` matrices, `stride` elements apart, one after the other.
void pack_panels(const Int8Matrix& first, size_t count, ptrdiff_t stride, void* to);

// For prepare functions: packs constant matrices at load. Requests `scratch` bytes for calls, and memory for
// the panels if the matrices are not constant.
void prepare_panels(KernelContext& context, const Int8Matrix& first, size_t count, ptrdiff_t stride,
                    bool is_constant, size_t scratch);

// The panels packed at load, or packed now in scratch memory; null if that is too small.
[[nodiscard]] const void* packed_panels(KernelContext& context, const Int8Matrix& first, size_t count,
                                        ptrdiff_t stride);

}  // namespace rushlight::kernels::host
