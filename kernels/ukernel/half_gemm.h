// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 rows with float16 weights, which stay float16 in memory.
//
//   out[i][j] = sum over k of left[i][k] * panel[k][j] (+ bias[j]) (+ residual[i][j])
//
// for i < rows, j < features. A panel is [depth][kBlockFeatures] of float16, in the order in which programs
// store it; features past the end are 0. Numbers with even k and with odd k are summed in order from 0, and
// both sums are added. Products and sums may be fused: variants differ in the last bits, tiles of one do not.
//
// Promises: nothing is read or written but what is described, and nothing needs more alignment than its type.
// `out` may be `residual`, and overlaps nothing else.
#pragma once

#include <cstdint>

#include "kernels/ukernel/block_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct HalfGemm {
  size_t depth = 0;
  size_t rows = 0;
  size_t features = 0;  // 1 to kBlockFeatures

  const float* left = nullptr;  // the numbers of a row are adjacent
  ptrdiff_t left_stride = 0;    // from row to row
  const uint16_t* panel = nullptr;
  const float* bias = nullptr;      // of each feature; null: none
  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};
// Multiplies rows with one panel.
RL_UKERNEL(void, multiply_halves, (const HalfGemm& product), (product))

}  // namespace rushlight::ukernel
