// SPDX-License-Identifier: BSD-3-Clause
// Products of dynamically quantized rows with weights of 8 or 4 bits that have a scale for each group along
// the depth: linear layers whose input ranges are measured in each call.
//
//   out[i][j] = row_scale[i] * (sum over g of scale[j][g] * sum[i][j][g]) + bias[j]
//   sum[i][j][g] = sum over k in group g of (quantized[i][k] - zero_point[i]) * number[j][k]
//
// for i < rows, j < columns. sum[i][j][g] is exact in 32 bits; the caller ensures that it fits. All other
// steps are float32, in the order of the groups and rounded separately: all variants give the same bits.
//
//   dynamic_gemm_columns()        columns of a packed panel
//   dynamic_panel_bytes(form)     bytes of a packed panel, a multiple of 64
//   dynamic_row_bytes(form)       bytes of a quantized row, a multiple of 64
//   find_extent(...)              range of a row
//   quantize_dynamic_row(...)     quantizes a row into the layout that the variant multiplies
//   pack_dynamic(...)             packs one panel
//   multiply_dynamic(...)         multiplies rows with one panel
//
// Memory: accesses only the described elements. Panels and quantized rows are aligned to 64 bytes, other
// arrays as their type requires. `out` overlaps no operand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/grouped_weights.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// quantized = round(x * inverse_scale) + zero_point in float32, or round(x * inverse_scale + zero_point) in
// float64 if `is_wide`; halves to even, clamped to [low, high]; NaN becomes 0. zero_point, low and high are
// values of int8.
struct DynamicQuantization {
  double inverse_scale = 0;
  float scale = 0;
  int32_t zero_point = 0;
  int32_t low = -128;
  int32_t high = 127;
  bool is_wide = false;
};

// Panels and quantized rows are opaque and belong to the variant that made them. A panel holds the scales,
// float32 [groups][columns], before the weights; variants that store elements plus an offset also hold the
// sums of the groups, which correct for it. A row begins with its scale and the zero point of the stored
// elements, so that multiply_dynamic() needs no further arguments for it. Groups may be padded with zeros to
// the elements that an instruction multiplies.
RL_UKERNEL_INTEGER(size_t, dynamic_gemm_columns, (), ())
RL_UKERNEL_INTEGER(size_t, dynamic_panel_bytes, (const GroupedForm& form), (form))
RL_UKERNEL_INTEGER(size_t, dynamic_row_bytes, (const GroupedForm& form), (form))

// Lowers *min and raises *max to the smallest and largest element. Returns false if an element is NaN.
RL_UKERNEL_INTEGER(bool, find_extent, (size_t n, const float* x, float* min, float* max), (n, x, min, max))

RL_UKERNEL_INTEGER(void, quantize_dynamic_row,
                   (const GroupedForm& form, const DynamicQuantization& how, const float* from, void* to),
                   (form, how, from, to))

// Packs columns j < columns <= dynamic_gemm_columns(). Column j is row j of `weights`.
RL_UKERNEL_INTEGER(void, pack_dynamic, (const GroupedWeights& weights, size_t columns, void* panel),
                   (weights, columns, panel))

struct DynamicGemm {
  GroupedForm form;
  size_t rows = 0;     // any number
  size_t columns = 0;  // 1 to dynamic_gemm_columns()

  const void* left = nullptr;  // quantized rows
  ptrdiff_t left_stride = 0;   // bytes from row to row
  const void* panel = nullptr;
  const float* bias = nullptr;  // for each column; null: none

  float* out = nullptr;      // the elements of a row are contiguous
  ptrdiff_t out_stride = 0;  // in floats from row to row
};
RL_UKERNEL_INTEGER(void, multiply_dynamic, (const DynamicGemm& product), (product))

}  // namespace rushlight::ukernel
