// SPDX-License-Identifier: BSD-3-Clause
// The angle of a value in the complex plane, and conversions between degrees and radians.
#include "kernels/math/complex_function.h"
#include "kernels/math/double_function.h"
#include "kernels/ukernel/wide_math.h"
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

#ifndef __OPTIMIZE_SIZE__
// Angles of complex64 by a microkernel, which takes the parts apart.
void angle_row(const void*, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  constexpr size_t kPiece = 64;
  float parts[2][kPiece];
  float angles[kPiece];
  char* to = pointers[0];
  const char* from = pointers[1];
  for (size_t length = 0; n > 0; n -= length) {
    length = n < kPiece ? n : kPiece;
    for (size_t i = 0; i < length; ++i, from += strides[1]) {
      const auto* const part = reinterpret_cast<const float*>(from);
      parts[0][i] = part[0];
      parts[1][i] = part[1];
    }
    ukernel::atan2_f32(length, parts[1], 1, parts[0], 1, angles);
    for (size_t i = 0; i < length; ++i, to += strides[0]) *reinterpret_cast<float*>(to) = angles[i];
  }
}
#endif

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
Error angle_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::angle.out");
  if constexpr ((kTypes & types::kComplex) != 0) {
#ifndef __OPTIMIZE_SIZE__
    if constexpr (contains(kTypes, ScalarType::ComplexFloat)) {
      if (self.scalar_type() == ScalarType::ComplexFloat) {
        const Tensor* const inputs[] = {&self};
        return run_elementwise({inputs, 1}, out,
                               {self.scalar_type(), self.scalar_type(), ScalarType::Float, Numbers::kRounded,
                                angle_row, nullptr});
      }
    }
#endif
    if (contains(kTypes & types::kComplex, self.scalar_type())) return complex_measure(self, out, phase);
  }
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
