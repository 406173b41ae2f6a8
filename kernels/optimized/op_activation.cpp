// SPDX-License-Identifier: BSD-3-Clause
// Functions of each element, with parameters.
#include <cmath>
#include <optional>
#include <string_view>

#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/clamp.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/scalar_range.h"
#include "kernels/shared/selection.h"
#include "kernels/ukernel/vector_math.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate, Tensor& out);
Error leaky_relu_out(KernelContext& context, const Tensor& self, const Scalar& negative_slope, Tensor& out);
Error elu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale, Tensor& out);
Error softplus_out(KernelContext& context, const Tensor& self, const Scalar& beta, const Scalar& threshold,
                   Tensor& out);
Error hardtanh_out(KernelContext& context, const Tensor& self, const Scalar& min_val, const Scalar& max_val,
                   Tensor& out);
Error clamp_out(KernelContext& context, const Tensor& self, const std::optional<Scalar>& min,
                const std::optional<Scalar>& max, Tensor& out);
Error clamp_min_out(KernelContext& context, const Tensor& self, const Scalar& min, Tensor& out);
Error clamp_max_out(KernelContext& context, const Tensor& self, const Scalar& max, Tensor& out);

namespace optimized {

namespace {

Error bounded(KernelContext& context, const Tensor& self, float low, float high, Tensor& out) {
  const auto clamp = [=](size_t n, const float* x, float* y) { ukernel::clamp_f32(n, x, low, high, y); };
  return elementwise_in_float(context, out, of_each(clamp), self);
}

}  // namespace

Error gelu_out(KernelContext& context, const Tensor& self, std::string_view approximate, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::gelu.out");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::gelu.out", gelu_out, context, self, approximate, out);
  if (approximate == "tanh") return elementwise_in_float(context, out, of_each(ukernel::gelu_tanh_f32), self);
  RL_CHECK(approximate == "none", Error::InvalidArgument,
           "approximate: expected 'none' or 'tanh', got '%.*s'", static_cast<int>(approximate.size()),
           approximate.data());
  return elementwise_in_float(context, out, of_each(ukernel::gelu_f32), self);
}

Error leaky_relu_out(KernelContext& context, const Tensor& self, const Scalar& negative_slope, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::leaky_relu.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::leaky_relu.out", leaky_relu_out, context, self, negative_slope, out);
  }
  RL_TRY(check_scalar_range(negative_slope, self.scalar_type(), "negative_slope"));
  const auto leak = [slope = negative_slope.to<float>()](size_t n, const float* x, float* y) {
    ukernel::leaky_relu_f32(n, x, slope, y);
  };
  return elementwise_in_float(context, out, of_each(leak), self);
}

Error elu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, const Scalar& scale,
              const Scalar& input_scale, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::elu.out");
  const ScalarType type = self.scalar_type();
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::elu.out", elu_out, context, self, alpha, scale, input_scale, out);
  }
  RL_TRY(check_scalar_range(alpha, type, "alpha"));
  RL_TRY(check_scalar_range(scale, type, "scale"));
  RL_TRY(check_scalar_range(input_scale, type, "input_scale"));
  const auto positive = scale.to<float>();
  const auto elu = [positive, negative = alpha.to<float>() * positive, inner = input_scale.to<float>()](
                       size_t n, const float* x, float* y) {
    ukernel::elu_f32(n, x, positive, negative, inner, y);
  };
  return elementwise_in_float(context, out, of_each(elu), self);
}

Error softplus_out(KernelContext& context, const Tensor& self, const Scalar& beta, const Scalar& threshold,
                   Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::softplus.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::softplus.out", softplus_out, context, self, beta, threshold, out);
  }
  const auto softplus = [factor = beta.to<float>(), limit = threshold.to<float>()](size_t n, const float* x,
                                                                                   float* y) {
    ukernel::softplus_f32(n, x, factor, limit, y);
  };
  return elementwise_in_float(context, out, of_each(softplus), self);
}

Error hardtanh_out(KernelContext& context, const Tensor& self, const Scalar& min_val, const Scalar& max_val,
                   Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::hardtanh.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::hardtanh.out", hardtanh_out, context, self, min_val, max_val, out);
  }
  RL_TRY(check_fits(min_val, self.scalar_type(), "min_val"));
  RL_TRY(check_fits(max_val, self.scalar_type(), "max_val"));
  return bounded(context, self, min_val.to<float>(), max_val.to<float>(), out);
}

Error clamp_out(KernelContext& context, const Tensor& self, const std::optional<Scalar>& min,
                const std::optional<Scalar>& max, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::clamp.out") | selected_types("aten::clamp_min.out") |
                             selected_types("aten::clamp_max.out");
  RL_CHECK(min.has_value() || max.has_value(), Error::InvalidArgument, "expected min or max");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::clamp.out", clamp_out, context, self, min, max, out);
  if (min) RL_TRY(check_fits(*min, self.scalar_type(), "min"));
  if (max) RL_TRY(check_fits(*max, self.scalar_type(), "max"));
  return bounded(context, self, min ? min->to<float>() : -INFINITY, max ? max->to<float>() : INFINITY, out);
}

Error clamp_min_out(KernelContext& context, const Tensor& self, const Scalar& min, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::clamp_min.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::clamp_min.out", clamp_min_out, context, self, min, out);
  }
  RL_TRY(check_fits(min, self.scalar_type(), "min"));
  return bounded(context, self, min.to<float>(), INFINITY, out);
}

Error clamp_max_out(KernelContext& context, const Tensor& self, const Scalar& max, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::clamp_max.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::clamp_max.out", clamp_max_out, context, self, max, out);
  }
  RL_TRY(check_fits(max, self.scalar_type(), "max"));
  return bounded(context, self, -INFINITY, max.to<float>(), out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
