// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/division.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::remainder.Tensor_out") |
                           selected_types("aten::remainder.Scalar_out") |
                           selected_types("aten::remainder.Scalar_Tensor_out");

// The remainder of floored division: it has the sign of `other`, as in Python. (fmod has the sign of `self`.)
// An integer division by 0 is an error, a floating one gives NaN.
Error remainder(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  bool by_zero = false;
  const auto modulo = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [&by_zero](T a, T b) { return checked_quotient(a, b, &by_zero, floored_remainder<T>); };
  };
  RL_TRY(elementwise_for<kTypes>(compute, out, modulo, self, other));
  return check_no_division_by_zero(by_zero);
}

}  // namespace

Error remainder_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return remainder(result_type(self, other), self, other, out);
}

Error remainder_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return remainder(compute, self, ScalarTensor(other, compute), out);
}

Error remainder_Scalar_Tensor_out(KernelContext&, const Scalar& self, const Tensor& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return remainder(compute, ScalarTensor(self, compute), other, out);
}

}  // namespace rushlight::kernels
