// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/division.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    (selected_types("aten::floor_divide.out") | selected_types("aten::floor_divide.Scalar_out")) &
    types::kReal;

}  // namespace

// floor(self / other), consistent with remainder(): for floating values floor() of the rounded quotient is
// not. An integer division by 0 is an error, which is reported after the whole tensor is computed.
Error floor_divide_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return divide_rounded<kTypes, Rounding::kFloor>(result_type(self, other), self, other, out);
}

Error floor_divide_scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  const ScalarTensor divisor(other, computed_type(compute));
  return divide_rounded<kTypes, Rounding::kFloor>(compute, self, divisor, out);
}

}  // namespace rushlight::kernels
