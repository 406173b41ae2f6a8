// SPDX-License-Identifier: BSD-3-Clause
// Sums, products and quotients of floats, sums and products of int32 and int64.
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error add_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
              Tensor& out);
Error add_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out);
Error sub_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
              Tensor& out);
Error sub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out);
Error rsub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                      Tensor& out);
Error mul_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
Error mul_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out);
Error div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);
Error div_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out);

namespace optimized {

namespace {

// a + alpha b, or a - alpha b. Their one dtype belongs to the set.
template <TypeSet kTypes>
Error add_scaled(KernelContext& context, const Tensor& a, const Tensor& b, const Scalar& alpha, bool minus,
                 Tensor& out) {
  const ScalarType type = out.scalar_type();
  RL_TRY(check_alpha<kTypes>(alpha, type));
  if constexpr ((kTypes & types::kFloating) != 0) {
    if (is_floating(type)) {
      const float factor = minus ? -alpha.to<float>() : alpha.to<float>();
      const auto add = [factor](ukernel::Rows rows) {
        rows.number = factor;
        ukernel::add_f32(rows);
      };
      return elementwise_in_float(context, out, add, a, b);
    }
  }
  const auto factor = minus ? 0 - alpha.to<uint64_t>() : alpha.to<uint64_t>();
  const auto add = [factor, type](ukernel::Rows rows) {
    rows.factor = factor;
    type == ScalarType::Int ? ukernel::add_i32(rows) : ukernel::add_i64(rows);
  };
  return elementwise(context, out, add, a, b);
}

template <TypeSet kTypes>
Error multiply(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& out) {
  if constexpr ((kTypes & types::kFloating) != 0) {
    if (is_floating(out.scalar_type())) return elementwise_in_float(context, out, ukernel::mul_f32, a, b);
  }
  return elementwise(context, out, out.scalar_type() == ScalarType::Int ? ukernel::mul_i32 : ukernel::mul_i64,
                     a, b);
}

// Whether the number does not change the dtype.
bool keeps_type(const Tensor& self, const Scalar& number) {
  return result_type(self, number) == self.scalar_type();
}

}  // namespace

Error add_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
              Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::add.out");
  if (!all_of(kTypes, self, other, out)) {
    RL_FALL_BACK("aten::add.out", add_out, context, self, other, alpha, out);
  }
  return add_scaled<kTypes>(context, self, other, alpha, false, out);
}

Error add_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::add.Scalar_out");
  if (!all_of(kTypes, self, out) || !keeps_type(self, other)) {
    RL_FALL_BACK("aten::add.Scalar_out", add_scalar_out, context, self, other, alpha, out);
  }
  return add_scaled<kTypes>(context, self, ScalarTensor(other, self.scalar_type()), alpha, false, out);
}

Error sub_out(KernelContext& context, const Tensor& self, const Tensor& other, const Scalar& alpha,
              Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sub.out");
  if (!all_of(kTypes, self, other, out)) {
    RL_FALL_BACK("aten::sub.out", sub_out, context, self, other, alpha, out);
  }
  return add_scaled<kTypes>(context, self, other, alpha, true, out);
}

Error sub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                     Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sub.Scalar_out");
  if (!all_of(kTypes, self, out) || !keeps_type(self, other)) {
    RL_FALL_BACK("aten::sub.Scalar_out", sub_scalar_out, context, self, other, alpha, out);
  }
  RL_TRY(check_not_bool(other.type(), "other"));
  return add_scaled<kTypes>(context, self, ScalarTensor(other, self.scalar_type()), alpha, true, out);
}

Error rsub_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, const Scalar& alpha,
                      Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::rsub.Scalar_out");
  if (!all_of(kTypes, self, out) || !keeps_type(self, other)) {
    RL_FALL_BACK("aten::rsub.Scalar_out", rsub_scalar_out, context, self, other, alpha, out);
  }
  RL_TRY(check_not_bool(other.type(), "other"));
  return add_scaled<kTypes>(context, ScalarTensor(other, self.scalar_type()), self, alpha, true, out);
}

Error mul_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mul.out");
  if (!all_of(kTypes, self, other, out)) RL_FALL_BACK("aten::mul.out", mul_out, context, self, other, out);
  return multiply<kTypes>(context, self, other, out);
}

Error mul_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mul.Scalar_out");
  if (!all_of(kTypes, self, out) || !keeps_type(self, other)) {
    RL_FALL_BACK("aten::mul.Scalar_out", mul_scalar_out, context, self, other, out);
  }
  // PyTorch multiplies 16-bit floats by the number as it is, and rounds it for sums.
  if (is_floating(self.scalar_type()))
    return multiply<kTypes>(context, self, FloatNumber(other.to<float>()).tensor(), out);
  return multiply<kTypes>(context, self, ScalarTensor(other, self.scalar_type()), out);
}

Error div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::div.out");
  if (!all_of(kTypes, self, other, out)) RL_FALL_BACK("aten::div.out", div_out, context, self, other, out);
  return elementwise_in_float(context, out, ukernel::div_f32, self, other);
}

Error div_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::div.Scalar_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::div.Scalar_out", div_scalar_out, context, self, other, out);
  }
  const FloatNumber divisor(other.to<float>());
  return elementwise_in_float(context, out, ukernel::div_f32, self, divisor.tensor());
}

}  // namespace optimized

}  // namespace rushlight::kernels
