// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/half_gemm.h in double, for tests. The order of even and odd k does not matter
// here: products are exact and sums are rounded in double. Tests allow 1e-5.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/ukernel/half_gemm.h"

namespace rushlight::ukernel::reference {

// The value of a float16, by its fields; block_gemm.h's reference uses it too. All NaN give one NaN.
inline float half_to_float(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  // Exponent 0 has multiples of 2^-24; otherwise the hidden bit adds 1024 to the fraction.
  const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * HUGE_VALF;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                               : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}

// Element (i, j) of the result with bias and residual, before it is rounded to float32.
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
