// SPDX-License-Identifier: BSD-3-Clause
// Products of rows of float32 with integers of 8 or 4 bits whose groups along the depth have scales: linear
// layers whose weights alone are quantized.
//
//   out[i][j] = bias[j] + sum over g of scale[j][g] * (sum over k in group g of left[i][k] * number[j][k])
//
// for i < rows, j < columns. Each inner sum goes in order and begins with 0; then groups are added in order.
// Products and sums may be fused: variants differ in the last bits, tiles of one do not.
//
//   mixed_gemm_columns()       columns of a packed panel
//   mixed_panel_bytes(form)    bytes of a packed panel, a multiple of 64
//   pack_mixed(...)            packs one panel
//   multiply_mixed(...)        multiplies rows with one panel
//
// Promises: nothing is read or written but what is described; panels are aligned to 64 bytes, nothing else
// needs more alignment than its type. `out` overlaps nothing that is read.
#pragma once

#include "kernels/ukernel/grouped_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

RL_UKERNEL(size_t, mixed_gemm_columns, (), ())
RL_UKERNEL(size_t, mixed_panel_bytes, (const GroupedForm& form), (form))

// Columns j < columns <= mixed_gemm_columns(): rows of the weights from the first on.
RL_UKERNEL(void, pack_mixed, (const GroupedWeights& weights, size_t columns, void* panel),
           (weights, columns, panel))

struct MixedGemm {
  GroupedForm form;
  size_t rows = 0;     // any number
  size_t columns = 0;  // 1 to mixed_gemm_columns()

  const float* left = nullptr;  // the numbers of a row are adjacent
  ptrdiff_t left_stride = 0;    // from row to row
  const void* panel = nullptr;
  const float* bias = nullptr;  // of each column; null: none

  float* out = nullptr;  // the numbers of a row are adjacent
  ptrdiff_t out_stride = 0;
};
RL_UKERNEL(void, multiply_mixed, (const MixedGemm& product), (product))

}  // namespace rushlight::ukernel
