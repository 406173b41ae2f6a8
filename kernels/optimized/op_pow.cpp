// SPDX-License-Identifier: BSD-3-Clause
// Powers. Those of few multiplications are computed by these.
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/selection.h"
#include "kernels/ukernel/vector_math.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error pow_Tensor_Tensor_out(KernelContext& context, const Tensor& self, const Tensor& exponent, Tensor& out);
Error pow_Tensor_Scalar_out(KernelContext& context, const Tensor& self, const Scalar& exponent, Tensor& out);
Error pow_Scalar_out(KernelContext& context, const Scalar& self, const Tensor& exponent, Tensor& out);

namespace optimized {

Error pow_Tensor_Tensor_out(KernelContext& context, const Tensor& self, const Tensor& exponent, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pow.Tensor_Tensor_out");
  if (!all_of(kTypes, self, exponent, out)) {
    RL_FALL_BACK("aten::pow.Tensor_Tensor_out", pow_Tensor_Tensor_out, context, self, exponent, out);
  }
  return elementwise_in_float(context, out, ukernel::pow_f32, self, exponent);
}

Error pow_Tensor_Scalar_out(KernelContext& context, const Tensor& self, const Scalar& exponent, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pow.Tensor_Scalar_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::pow.Tensor_Scalar_out", pow_Tensor_Scalar_out, context, self, exponent, out);
  }
  const auto y = exponent.to<float>();
  if (y == 2) return elementwise_in_float(context, out, of_each(ukernel::square_f32), self);
  if (y == 3) return elementwise_in_float(context, out, of_each(ukernel::cube_f32), self);
  if (y == 0.5f) return elementwise_in_float(context, out, of_each(ukernel::sqrt_f32), self);
  if (y == -0.5f) return elementwise_in_float(context, out, of_each(ukernel::rsqrt_f32), self);
  if (y == -1) return elementwise_in_float(context, out, of_each(ukernel::reciprocal_f32), self);
  const auto raise = [y](size_t n, const float* x, float* to) { ukernel::power_of_f32(n, x, y, to); };
  return elementwise_in_float(context, out, of_each(raise), self);
}

Error pow_Scalar_out(KernelContext& context, const Scalar& self, const Tensor& exponent, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pow.Scalar_out");
  if (!all_of(kTypes, exponent, out)) {
    if constexpr (falls_back("aten::pow.Scalar_out")) {
      return kernels::pow_Scalar_out(context, self, exponent, out);
    }
    return unsupported_type(exponent.scalar_type());
  }
  const auto raise = [base = self.to<float>()](size_t n, const float* x, float* to) {
    ukernel::exponential_f32(n, x, base, to);
  };
  return elementwise_in_float(context, out, of_each(raise), exponent);
}

}  // namespace optimized

}  // namespace rushlight::kernels
