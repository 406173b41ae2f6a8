// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::bitwise_or.Tensor_out") |
                           selected_types("aten::bitwise_or.Scalar_out") |
                           selected_types("aten::bitwise_or.Scalar_Tensor_out");

Error combine(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  return elementwise<kTypes, Signs::kIgnored>(
      compute, out, [](auto a, auto b) { return a | b; }, self, other);
}

}  // namespace

Error bitwise_or_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return combine(result_type(self, other), self, other, out);
}

Error bitwise_or_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return combine(compute, self, ScalarTensor(other, compute), out);
}

Error bitwise_or_Scalar_Tensor_out(KernelContext&, const Scalar& self, const Tensor& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return combine(compute, ScalarTensor(self, compute), other, out);
}

}  // namespace rushlight::kernels
