// SPDX-License-Identifier: BSD-3-Clause
// The angle of a value in the complex plane, and conversions between degrees and radians.
#include "kernels/backs/backs.h"
#include "kernels/math/complex_function.h"
#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;

template <class T>
T angle(T x) {
  return x < 0 ? T(kPi) : (x >= 0 ? T(0) : x);
}

double radians(double x) { return x * (kPi / 180); }

double degrees(double x) { return x * (180 / kPi); }

// Computes in double, as the angle of floats is rounded once.
template <TypeSet kTypes, double (*kFunction)(double)>
Error convert_angle(const Tensor& self, const Tensor& out) {
#ifdef __OPTIMIZE_SIZE__
  return double_function<kTypes, kFunction>(self, out);
#else
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  const auto f = [](auto x) { return static_cast<decltype(x)>(kFunction(static_cast<double>(x))); };
  return elementwise_floating<kTypes>(out, f, self);
#endif
}

}  // namespace

// A real value has angle 0 or pi; NaN stays.
Error angle_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::angle.out");
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, self.scalar_type())) {
      return backs::angle_out(context, PhaseProblem{{self, out}},
                              [&] { return complex_measure(self, out, phase); });
    }
  }
  static_cast<void>(context);  // builds without complex dtypes have no back
  constexpr TypeSet kReal = kTypes & ~types::kComplex;
#ifdef __OPTIMIZE_SIZE__
  return double_function<kReal, angle<double>>(self, out);
#else
  if (!contains(kReal, self.scalar_type())) return unsupported_type(self.scalar_type());
  return elementwise_floating<kReal>(out, [](auto x) { return angle(x); }, self);
#endif
}

Error deg2rad_out(KernelContext&, const Tensor& self, Tensor& out) {
  return convert_angle<selected_types("aten::deg2rad.out"), radians>(self, out);
}

Error rad2deg_out(KernelContext&, const Tensor& self, Tensor& out) {
  return convert_angle<selected_types("aten::rad2deg.out"), degrees>(self, out);
}

}  // namespace rushlight::kernels
