// SPDX-License-Identifier: BSD-3-Clause
// sin(pi x) / (pi x), and the spherical Bessel function j0(x) = sin(x) / x. Both are 1 at 0.
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/math/complex_function.h"
#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

double sin_over(double x) { return x == 0 ? 1.0 : std::sin(x) / x; }

double sinc(double x) { return sin_over(x * 3.14159265358979323846); }

// The limit at infinity is 0; sin() would give NaN.
double spherical_bessel_j0(double value) { return std::isinf(value) ? 0.0 : sin_over(value); }

}  // namespace

Error sinc_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sinc.out");
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, self.scalar_type()))
      return complex_function(self, out, complex_sinc);
  }
  constexpr TypeSet kReal = kTypes & ~types::kComplex;
  return backs::sinc_out(context, FloatingProblem<kReal>{self, out},
                         [&] { return double_function<kReal, sinc>(self, out); });
}

Error special_spherical_bessel_j0_out(KernelContext& context, const Tensor& x, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::special_spherical_bessel_j0.out");
  return backs::special_spherical_bessel_j0_out(context, FloatingProblem<kTypes>{x, out}, [&] {
    return double_function<kTypes, spherical_bessel_j0>(x, out);
  });
}

}  // namespace rushlight::kernels
