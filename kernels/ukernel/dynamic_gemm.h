// SPDX-License-Identifier: BSD-3-Clause
// Products of rows that are quantized as they come with integers of 8 or 4 bits whose groups along the depth
// have scales: linear layers with ranges found in each run.
//
//   out[i][j] = row_scale[i] * (sum over g of scale[j][g] * sum[i][j][g]) + bias[j]
//   sum[i][j][g] = sum over k in group g of (quantized[i][k] - zero_point[i]) * number[j][k]
//
// for i < rows, j < columns. sum[i][j][g] is exact, in 32 bits; the caller knows that it fits. Everything
// else is float32, in the order of the groups, each step rounded by itself: all variants make the same bits.
//
//   dynamic_gemm_columns()        columns of a packed panel
//   dynamic_panel_bytes(form)     bytes of a packed panel, a multiple of 64
//   dynamic_row_bytes(form)       bytes of a quantized row, a multiple of 64
//   find_extent(...)              the range of a row
//   quantize_dynamic_row(...)     quantizes a row, to the form that is multiplied
//   pack_dynamic(...)             packs one panel
//   multiply_dynamic(...)         multiplies rows with one panel
//
// Promises: nothing is read or written but what is described; panels and rows are aligned to 64 bytes,
// nothing else needs more alignment than its type. `out` overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/grouped_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// quantized = round(x * inverse_scale) + zero_point in float32, or round(x * inverse_scale + zero_point) in
// float64 where `is_wide`; halves to even, from low to high; 0 of NaN. All whole numbers are of int8.
struct DynamicQuantization {
  double inverse_scale = 0;
  float scale = 0;
  int32_t zero_point = 0;
  int32_t low = -128;
  int32_t high = 127;
  bool is_wide = false;
};

RL_UKERNEL_INTEGER(size_t, dynamic_gemm_columns, (), ())
RL_UKERNEL_INTEGER(size_t, dynamic_panel_bytes, (const GroupedForm& form), (form))
RL_UKERNEL_INTEGER(size_t, dynamic_row_bytes, (const GroupedForm& form), (form))

// Lowers *min and raises *max to the smallest and the largest number; true unless one is NaN.
RL_UKERNEL_INTEGER(bool, find_extent, (size_t n, const float* x, float* min, float* max), (n, x, min, max))

RL_UKERNEL_INTEGER(void, quantize_dynamic_row,
                   (const GroupedForm& form, const DynamicQuantization& how, const float* from, void* to),
                   (form, how, from, to))

// Columns j < columns <= dynamic_gemm_columns(): rows of the weights from the first on.
RL_UKERNEL_INTEGER(void, pack_dynamic, (const GroupedWeights& weights, size_t columns, void* panel),
                   (weights, columns, panel))

struct DynamicGemm {
  GroupedForm form;
  size_t rows = 0;     // any number
  size_t columns = 0;  // 1 to dynamic_gemm_columns()

  const void* left = nullptr;  // quantized rows
  ptrdiff_t left_stride = 0;   // bytes from row to row
  const void* panel = nullptr;
  const float* bias = nullptr;  // of each column; null: none

  float* out = nullptr;      // the numbers of a row are adjacent
  ptrdiff_t out_stride = 0;  // from row to row
};
RL_UKERNEL_INTEGER(void, multiply_dynamic, (const DynamicGemm& product), (product))

}  // namespace rushlight::ukernel
