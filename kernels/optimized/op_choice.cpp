// SPDX-License-Identifier: BSD-3-Clause
// The larger, the smaller, the chosen one, and numbers between others.
#include <optional>

#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
Error minimum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
Error clamp_tensor_out(KernelContext& context, const Tensor& self, const std::optional<Tensor>& min,
                       const std::optional<Tensor>& max, Tensor& out);
Error lerp_Scalar_out(KernelContext& context, const Tensor& self, const Tensor& end, const Scalar& weight,
                      Tensor& out);
Error lerp_Tensor_out(KernelContext& context, const Tensor& self, const Tensor& end, const Tensor& weight,
                      Tensor& out);
Error addcmul_out(KernelContext& context, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                  const Scalar& value, Tensor& out);
Error addcdiv_out(KernelContext& context, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                  const Scalar& value, Tensor& out);
Error where_out(KernelContext& context, const Tensor& condition, const Tensor& self, const Tensor& other,
                Tensor& out);

namespace optimized {

Error maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::maximum.out");
  if (!all_of(kTypes, self, other, out)) {
    RL_FALL_BACK("aten::maximum.out", maximum_out, context, self, other, out);
  }
  return elementwise_in_float(context, out, ukernel::maximum_f32, self, other);
}

Error minimum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::minimum.out");
  if (!all_of(kTypes, self, other, out)) {
    RL_FALL_BACK("aten::minimum.out", minimum_out, context, self, other, out);
  }
  return elementwise_in_float(context, out, ukernel::minimum_f32, self, other);
}

// One bound alone is a larger or a smaller one: NaN in any of them stays.
Error clamp_tensor_out(KernelContext& context, const Tensor& self, const std::optional<Tensor>& min,
                       const std::optional<Tensor>& max, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::clamp.Tensor_out");
  RL_CHECK(min.has_value() || max.has_value(), Error::InvalidArgument, "expected min or max");
  if (!all_of(kTypes, self, out, min ? *min : self, max ? *max : self)) {
    RL_FALL_BACK("aten::clamp.Tensor_out", clamp_tensor_out, context, self, min, max, out);
  }
  if (!max) return elementwise_in_float(context, out, ukernel::maximum_f32, self, *min);
  if (!min) return elementwise_in_float(context, out, ukernel::minimum_f32, self, *max);
  return elementwise_in_float(context, out, ukernel::clamp_rows_f32, self, *min, *max);
}

Error lerp_Scalar_out(KernelContext& context, const Tensor& self, const Tensor& end, const Scalar& weight,
                      Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::lerp.Scalar_out");
  if (!all_of(kTypes, self, end, out)) {
    RL_FALL_BACK("aten::lerp.Scalar_out", lerp_Scalar_out, context, self, end, weight, out);
  }
  const FloatNumber held(weight.to<float>());
  return elementwise_in_float(context, out, ukernel::lerp_f32, self, end, held.tensor());
}

Error lerp_Tensor_out(KernelContext& context, const Tensor& self, const Tensor& end, const Tensor& weight,
                      Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::lerp.Tensor_out");
  if (!all_of(kTypes, self, end, weight, out)) {
    RL_FALL_BACK("aten::lerp.Tensor_out", lerp_Tensor_out, context, self, end, weight, out);
  }
  return elementwise_in_float(context, out, ukernel::lerp_f32, self, end, weight);
}

Error addcmul_out(KernelContext& context, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                  const Scalar& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addcmul.out");
  if (!all_of(kTypes, self, tensor1, tensor2, out)) {
    RL_FALL_BACK("aten::addcmul.out", addcmul_out, context, self, tensor1, tensor2, value, out);
  }
  const auto add = [factor = value.to<float>()](ukernel::Rows rows) {
    rows.number = factor;
    ukernel::addcmul_f32(rows);
  };
  return elementwise_in_float(context, out, add, self, tensor1, tensor2);
}

Error addcdiv_out(KernelContext& context, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                  const Scalar& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::addcdiv.out");
  if (!all_of(kTypes, self, tensor1, tensor2, out)) {
    RL_FALL_BACK("aten::addcdiv.out", addcdiv_out, context, self, tensor1, tensor2, value, out);
  }
  const auto add = [factor = value.to<float>()](ukernel::Rows rows) {
    rows.number = factor;
    ukernel::addcdiv_f32(rows);
  };
  return elementwise_in_float(context, out, add, self, tensor1, tensor2);
}

Error where_out(KernelContext& context, const Tensor& condition, const Tensor& self, const Tensor& other,
                Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::where.self_out");
  if (!all_of(kTypes, self, other, out)) {
    RL_FALL_BACK("aten::where.self_out", where_out, context, condition, self, other, out);
  }
  const ScalarType mask = condition.scalar_type();
  RL_CHECK(mask == ScalarType::Bool || mask == ScalarType::Byte, Error::InvalidType,
           "condition: expected dtype bool or uint8, got %s", to_string(mask));
  return elementwise(context, out, where_of(out.element_size()), condition, self, other);
}

}  // namespace optimized

}  // namespace rushlight::kernels
