// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 rows with the block weights of kernels/ukernel/block_weights.h, for decoder layers.
//
// Rows are quantized in blocks of block_depth(form) elements. With m = max |x| of the block and `most` =
// 32512, or 127 if the form is narrow:
//
//   q = round(x * (most / m)), halves to even; scale = m / most
//
// Each step is rounded to float32. If m < kBlockLeast, q and scale are 0; if an element is not finite, the
// scale is NaN. The result is a float32 sum over the blocks in order. Each step is rounded separately,
// without fused multiply-adds, so that all variants give the same bits:
//
//   without minimums   sum += float(sum of (w - zero) q) * (weight scale * scale)
//   with minimums      sum += float(sum of w q) * (weight scale * scale)
//                      sum += (float(sum of q) * scale) * minimum
//   out = sum (+ bias) (+ residual)
//
// Integer sums are exact in 32 bits: at most 255 * 32512 * 32.
//
// Memory: accesses only the described elements. Quantized rows are aligned to 64 bytes, other arrays as their
// type requires, weights to bytes. `out` may be `residual` and overlaps nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/block_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Bytes of a quantized row, a multiple of 64. quantize_block_row() reads form.depth elements and writes one
// row. A row holds, for each block, its scale, the sum of q times the scale, and the sum of q times `zero`,
// 12 bytes; then, from the next multiple of 64 bytes on, the elements in the order and width that the variant
// multiplies. It belongs to the variant that wrote it, unlike the weights.
RL_UKERNEL_INTEGER(size_t, block_row_bytes, (const BlockForm& form), (form))
RL_UKERNEL_INTEGER(void, quantize_block_row, (const BlockForm& form, const float* from, void* to),
                   (form, from, to))

struct BlockGemm {
  BlockForm form;
  size_t rows = 0;
  size_t features = 0;  // 1 to kBlockFeatures

  const void* left = nullptr;  // quantized rows
  size_t left_stride = 0;      // bytes from row to row
  const void* panel = nullptr;
  const float* bias = nullptr;      // features elements; null: none
  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;    // in elements from row to row; the elements of a row are contiguous

  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};
// Multiplies rows with one panel: out[i][j] for i < rows, j < features. Each word of weights is unpacked once
// for a few rows; more rows read the panel again.
RL_UKERNEL_INTEGER(void, multiply_blocks, (const BlockGemm& product), (product))

}  // namespace rushlight::ukernel
