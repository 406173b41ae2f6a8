// SPDX-License-Identifier: BSD-3-Clause
// sin(x) / x, and its relative that has the whole numbers as zeros.
#include <cmath>

#include "kernels/shared/complex_function.h"
#include "kernels/shared/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

double sin_over(double x) { return x == 0 ? 1.0 : std::sin(x) / x; }

}  // namespace

Error sinc_out(KernelContext&, const Tensor& self, Tensor& out) {
  const auto sinc = [](double x) { return sin_over(x * 3.14159265358979323846); };
  constexpr TypeSet kTypes = selected_types("aten::sinc.out");
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, self.scalar_type()))
      return complex_function(self, out, complex_sinc);
  }
  return double_function(kTypes & ~types::kComplex, out, sinc, self);
}

Error special_spherical_bessel_j0_out(KernelContext&, const Tensor& x, Tensor& out) {
  const auto bessel = [](double value) { return std::isinf(value) ? 0.0 : sin_over(value); };
  return double_function(selected_types("aten::special_spherical_bessel_j0.out"), out, bessel, x);
}

}  // namespace rushlight::kernels
