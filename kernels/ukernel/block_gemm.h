// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 rows with the block weights of kernels/ukernel/block_weights.h.
//
// Rows are quantized in blocks of block_depth(form) numbers. With m = max |x| of the block and `most` =
// 32512, or 127 where the form is narrow:
//
//   q = round(x * (most / m)), halves to even; scale = m / most
//
// each step in float32. All is 0 where m < kBlockLeast; the scale is NaN where a number is not finite. The
// result is a sum over blocks in order, in float32, each step rounded by itself, so that all variants give
// the same bits:
//
//   without minimums   sum += float(sum of (w - zero) q) * (weight scale * scale)
//   with minimums      sum += float(sum of w q) * (weight scale * scale)
//                      sum += (float(sum of q) * scale) * minimum
//   out = sum (+ bias) (+ residual)
//
// Sums of integers are exact in 32 bits: 255 * 32512 * 32 at most.
//
// Promises: nothing is read or written but what is described; quantized rows are aligned to 64 bytes, nothing
// else needs more alignment than its type, weights none. `out` may be `residual`, and overlaps nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/block_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Bytes of a quantized row, a multiple of 64; quantizes form.depth numbers.
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
  const float* bias = nullptr;      // of each feature; null: none
  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;    // from row to row; numbers of a row are adjacent

  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};
// Multiplies rows with one panel.
RL_UKERNEL_INTEGER(void, multiply_blocks, (const BlockGemm& product), (product))

}  // namespace rushlight::ukernel
