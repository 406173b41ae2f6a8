// SPDX-License-Identifier: BSD-3-Clause
// Linear interpolation between two tensors, with a scalar weight or one for each element.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/complex_math.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::lerp.Scalar_out") | selected_types("aten::lerp.Tensor_out");

// True for weights of modulus below 0.5.
template <class T>
bool is_small(T weight) {
  return weight < T(0.5) && weight > T(-0.5);
}
template <class T>
bool is_small(Complex<T> weight) {
  return weight.real * weight.real + weight.imag * weight.imag < T(0.25);
}

// Interpolates from the nearer end, so that weights 0 and 1 give start and end exactly. Weights outside [0,
// 1] extrapolate.
template <class T>
T interpolate(T start, T end, T weight) {
  const T difference = end - start;
  const bool first_half = is_small(weight);
  return first_half ? start + weight * difference : end - difference * (T(1) - weight);
}

Error check_dtypes(const Tensor& self, const Tensor& end, const Tensor& out) {
  RL_TRY(check_same_dtype(self, end, "self and end"));
  return check_same_dtype(self, out, "self and out");
}

// A scalar weight is not rounded to a 16-bit dtype (kExact); half and bfloat16 compute in float.
Error lerp(const Tensor& self, const Tensor& end, const Tensor& weight, Tensor& out) {
  const auto function = [](auto a, auto b, auto w) { return interpolate(a, b, w); };
  return elementwise<kTypes&(types::kFloating | types::kComplex), Signs::kIgnored, Numbers::kExact>(
      self.scalar_type(), out, function, self, end, weight);
}

}  // namespace

Error lerp_Scalar_out(KernelContext& context, const Tensor& self, const Tensor& end, const Scalar& weight,
                      Tensor& out) {
  RL_TRY(check_dtypes(self, end, out));
  const ScalarTensor number(weight, computed_type(self.scalar_type()));
  return backs::lerp_Scalar_out(context, TernaryProblem{self, end, number, out, ScalarOperand::kLast},
                                [&] { return lerp(self, end, number, out); });
}

Error lerp_Tensor_out(KernelContext& context, const Tensor& self, const Tensor& end, const Tensor& weight,
                      Tensor& out) {
  RL_TRY(check_same_dtype(self, weight, "self and weight"));
  RL_TRY(check_dtypes(self, end, out));
  return backs::lerp_Tensor_out(context, TernaryProblem{self, end, weight, out},
                                [&] { return lerp(self, end, weight, out); });
}

}  // namespace rushlight::kernels
