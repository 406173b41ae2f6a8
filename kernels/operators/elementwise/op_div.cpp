// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/division.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kExactTypes = selected_types("aten::div.out") | selected_types("aten::div.Scalar_out");
constexpr TypeSet kModeTypes =
    selected_types("aten::div.out_mode") | selected_types("aten::div.Scalar_mode_out");

}  // namespace

// True division: integers become float32. A floating x / 0 is infinite or NaN, without an error.
Error div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType compute = floating_type(result_type(self, other));
  return backs::div_out(context, BinaryProblem{compute, self, other, out},
                        [&] { return divide<kExactTypes>(compute, Rounding::kNone, self, other, out); });
}

Error div_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  const ScalarType compute = floating_type(result_type(self, other));
  // Not rounded to a 16-bit dtype: PyTorch divides by the scalar in float.
  const ScalarTensor divisor(other, computed_type(compute));
  return backs::div_scalar_out(
      context, BinaryProblem{compute, self, divisor, out, ScalarOperand::kLast},
      [&] { return divide<kExactTypes>(compute, Rounding::kNone, self, divisor, out); });
}

// "trunc" and "floor" keep integer dtypes, where a division by 0 is an error; None is true division.
Error div_out_mode(KernelContext&, const Tensor& self, const Tensor& other,
                   std::optional<std::string_view> rounding_mode, Tensor& out) {
  Rounding rounding;
  RL_TRY(parse_rounding(rounding_mode, &rounding));
  return divide<kModeTypes>(division_type(result_type(self, other), rounding), rounding, self, other, out);
}

Error div_scalar_mode_out(KernelContext&, const Tensor& self, const Scalar& other,
                          std::optional<std::string_view> rounding_mode, Tensor& out) {
  Rounding rounding;
  RL_TRY(parse_rounding(rounding_mode, &rounding));
  const ScalarType compute = division_type(result_type(self, other), rounding);
  const ScalarTensor divisor(other, computed_type(compute));
  return divide<kModeTypes>(compute, rounding, self, divisor, out);
}

}  // namespace rushlight::kernels
