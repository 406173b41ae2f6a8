// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Compares in the promoted dtype, as PyTorch does: int64 with float32 compares in float32, where integers
// above 2^24 may become equal. A scalar of a higher kind promotes; an integer scalar that the tensor's dtype
// cannot hold wraps. NaN equals nothing, -0 equals 0. The other comparisons convert in the same way.
constexpr TypeSet kTypes = selected_types("aten::eq.Tensor_out") | selected_types("aten::eq.Scalar_out");

Error compare(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  return elementwise<kTypes, Signs::kIgnored>(
      compute, out, [](auto a, auto b) { return a == b; }, self, other);
}

}  // namespace

Error eq_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return backs::eq_tensor_out(context, ComparisonProblem{{compute, self, other, out}},
                              [&] { return compare(compute, self, other, out); });
}

Error eq_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = result_type(self, other);
  const ScalarTensor number(other, compute);
  return backs::eq_scalar_out(context, ComparisonProblem{{compute, self, number, out, ScalarOperand::kLast}},
                              [&] { return compare(compute, self, number, out); });
}

}  // namespace rushlight::kernels
