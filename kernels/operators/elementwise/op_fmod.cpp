// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/division.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Floating values use std::fmod, which is exact; x fmod 0 is NaN. An integer division by 0 is an error,
// reported after the whole tensor is computed.
template <TypeSet kTypes>
Error modulo(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  bool by_zero = false;
  const auto remainder = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [&by_zero](T a, T b) { return checked_quotient(a, b, &by_zero, truncated_remainder<T>); };
  };
  RL_TRY(elementwise_for<(kTypes & types::kReal)>(compute, out, remainder, self, other));
  return check_no_division_by_zero(by_zero);
}

}  // namespace

// The remainder of truncated division: it has the sign of `self`, as in C. (remainder has the sign of
// `other`.)
Error fmod_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return modulo<selected_types("aten::fmod.Tensor_out")>(result_type(self, other), self, other, out);
}

Error fmod_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return modulo<selected_types("aten::fmod.Scalar_out")>(compute, self, ScalarTensor(other, compute), out);
}

}  // namespace rushlight::kernels
