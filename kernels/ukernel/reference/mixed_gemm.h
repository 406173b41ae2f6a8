// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/mixed_gemm.h in double for weights that are not packed, for tests. Multiplies
// each weight by its scale first, unlike the variants, which scale the sum of a group.
#pragma once

#include "kernels/ukernel/mixed_gemm.h"

namespace rushlight::ukernel::reference {

// Element j of the result for a row of weights.depth() floats. `size` is the sum of the magnitudes of all
// terms, the scale of the error bound: tests allow size * 2^-24 * (4 + sqrt(depth)), as rounding errors of
// random sign grow.
inline double multiply_mixed(const GroupedWeights& weights, size_t j, const float* row, const float* bias,
                             double* size) {
  double total = bias == nullptr ? 0.0 : static_cast<double>(bias[j]);
  *size = __builtin_fabs(total);
  for (size_t k = 0; k < weights.depth(); ++k) {
    const double weight =
        weights.number(j, k) * static_cast<double>(weights.scale(j, k / weights.form.group));
    total += static_cast<double>(row[k]) * weight;
    *size += __builtin_fabs(static_cast<double>(row[k]) * weight);
  }
  return total;
}

}  // namespace rushlight::ukernel::reference
