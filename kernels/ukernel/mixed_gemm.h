// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 rows with weights of 8 or 4 bits that have a scale for each group along the depth:
// linear layers with quantized weights and float activations.
//
//   out[i][j] = bias[j] + sum over g of scale[j][g] * (sum over k in group g of left[i][k] * number[j][k])
//
// for i < rows, j < columns. Order: each inner sum starts at 0 and adds k in order; then groups are added in
// order. Multiply-adds may be fused: variants differ in the last bits, tiles of one variant do not.
//
//   mixed_gemm_columns()       columns of a packed panel
//   mixed_panel_bytes(form)    bytes of a packed panel, a multiple of 64
//   pack_mixed(...)            packs one panel
//   multiply_mixed(...)        multiplies rows with one panel
//
// Memory: accesses only the described elements. Panels are aligned to 64 bytes, other arrays as their type
// requires. `out` overlaps no operand.
#pragma once

#include "kernels/ukernel/grouped_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// A panel has the scales, float32 [groups][columns], then the weights of the groups, a line of `columns`
// bytes for one element of the depth or, with 4 bits, for two. A panel belongs to the variant that packed it:
// columns are four vectors. Weights are converted to float32 in registers, once for up to four rows.
RL_UKERNEL(size_t, mixed_gemm_columns, (), ())
RL_UKERNEL(size_t, mixed_panel_bytes, (const GroupedForm& form), (form))

// Packs columns j < columns <= mixed_gemm_columns(). Column j is row j of `weights`.
RL_UKERNEL(void, pack_mixed, (const GroupedWeights& weights, size_t columns, void* panel),
           (weights, columns, panel))

struct MixedGemm {
  GroupedForm form;
  size_t rows = 0;     // any number
  size_t columns = 0;  // 1 to mixed_gemm_columns()

  const float* left = nullptr;  // the elements of a row are contiguous
  ptrdiff_t left_stride = 0;    // in floats from row to row
  const void* panel = nullptr;
  const float* bias = nullptr;  // for each column; null: none

  float* out = nullptr;  // the elements of a row are contiguous
  ptrdiff_t out_stride = 0;
};
RL_UKERNEL(void, multiply_mixed, (const MixedGemm& product), (product))

}  // namespace rushlight::ukernel
