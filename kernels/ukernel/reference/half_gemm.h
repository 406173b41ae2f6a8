// SPDX-License-Identifier: BSD-3-Clause
// The contract of kernels/ukernel/half_gemm.h in double precision, for tests.
#pragma once

#include "kernels/ukernel/half_gemm.h"
#include "kernels/ukernel/reference/half.h"

namespace rushlight::ukernel::reference {

// One element of the result.
inline double multiply_halves(const HalfGemm& p, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < p.depth; ++k) {
    sum +=
        static_cast<double>(p.left[static_cast<ptrdiff_t>(i) * p.left_stride + static_cast<ptrdiff_t>(k)]) *
        static_cast<double>(half_to_float(p.panel[k * kBlockFeatures + j]));
  }
  if (p.bias != nullptr) sum += static_cast<double>(p.bias[j]);
  if (p.residual != nullptr) {
    sum += static_cast<double>(
        p.residual[static_cast<ptrdiff_t>(i) * p.residual_stride + static_cast<ptrdiff_t>(j)]);
  }
  return sum;
}

}  // namespace rushlight::ukernel::reference
