// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::mul.out") | selected_types("aten::mul.Scalar_out");

// Integers wrap, and the product of bools is a logical and. 0-dim tensors are not rounded to a 16-bit dtype
// first (kExact), as in PyTorch.
Error multiply(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  return elementwise<kTypes, Signs::kIgnored, Numbers::kExact>(
      compute, out, [](auto a, auto b) { return wrapping_multiply(a, b); }, self, other);
}

}  // namespace

Error mul_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return backs::mul_out(context, BinaryProblem{compute, self, other, out},
                        [&] { return multiply(compute, self, other, out); });
}

Error mul_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  const ScalarTensor number(other, computed_type(compute));
  return backs::mul_scalar_out(context, BinaryProblem{compute, self, number, out, ScalarOperand::kLast},
                               [&] { return multiply(compute, self, number, out); });
}

}  // namespace rushlight::kernels
