// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/dynamic_gemm.h for rows that are not yet quantized and weights that are not
// packed, for tests. Bit-exact: volatile variables prevent fused multiply-adds. It multiplies the
// definition's values, so that it checks quantization, packing and product of a variant together.
#pragma once

#include <cmath>

#include "kernels/ukernel/dynamic_gemm.h"

namespace rushlight::ukernel::reference {

// One quantized element, by float64 if `is_wide`. The float32 product of the narrow form is widened before it
// is rounded, which changes no value. NaN becomes 0.
inline int32_t quantized(const DynamicQuantization& how, float x) {
  double value = how.is_wide ? x * how.inverse_scale : x * static_cast<float>(how.inverse_scale);
  if (value != value) return 0;
  value = how.is_wide ? std::nearbyint(value + how.zero_point) : std::nearbyint(value) + how.zero_point;
  return static_cast<int32_t>(value < how.low ? how.low : value > how.high ? how.high : value);
}

// One element of the result: element j of the row `row` of weights.depth() floats. The sum of a group is
// exact in 64 bits; each later step is rounded to float32. `bias` may be null.
inline float multiply_dynamic(const GroupedWeights& weights, size_t j, const DynamicQuantization& how,
                              const float* row, const float* bias) {
  volatile float total = 0;  // rounds each step
  for (size_t g = 0; g < weights.form.groups; ++g) {
    int64_t sum = 0;
    for (size_t k = g * weights.form.group; k < (g + 1) * weights.form.group; ++k) {
      sum += (quantized(how, row[k]) - how.zero_point) * weights.number(j, k);
    }
    volatile float part = weights.scale(j, g) * static_cast<float>(sum);
    total = total + part;
  }
  total = total * how.scale;
  return bias == nullptr ? total : total + bias[j];
}

}  // namespace rushlight::ukernel::reference
