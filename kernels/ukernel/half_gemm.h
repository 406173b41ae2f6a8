// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 rows with float16 weights. The weights are converted in registers, so that half as many
// bytes are read.
//
//   out[i][j] = sum over k of left[i][k] * panel[k][j] (+ bias[j]) (+ residual[i][j])
//
// for i < rows, j < features. A panel is [depth][kBlockFeatures] of float16, in the layout that programs
// store; features past the end are 0. Order: the products of even k and of odd k are summed separately, each
// in order from 0, then both sums are added. Multiply-adds may be fused: variants differ in the last bits,
// tiles of one variant do not.
//
// Memory: accesses only the described elements; alignment of the element types. `out` may be `residual` and
// overlaps nothing else.
#pragma once

#include <cstdint>

#include "kernels/ukernel/block_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct HalfGemm {
  size_t depth = 0;
  size_t rows = 0;
  size_t features = 0;  // 1 to kBlockFeatures

  const float* left = nullptr;  // the elements of a row are contiguous
  ptrdiff_t left_stride = 0;    // in floats from row to row
  const uint16_t* panel = nullptr;
  const float* bias = nullptr;      // for each feature; null: none
  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};
// Multiplies rows with one panel.
RL_UKERNEL(void, multiply_halves, (const HalfGemm& product), (product))

}  // namespace rushlight::ukernel
