// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/masked.h"
#include "kernels/shared/scalar_range.h"
#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                             const Scalar& value, Tensor& out);
Error masked_fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                             const Tensor& value, Tensor& out);

namespace optimized {

namespace {

Error choose(KernelContext& context, const Tensor& self, const Tensor& mask, const Tensor& value,
             Tensor& out) {
  RL_TRY(check_mask_dtype(mask));
  return elementwise(context, out, where_of(out.element_size()), mask, value, self);
}

}  // namespace

Error masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                             const Scalar& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::masked_fill.Scalar_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::masked_fill.Scalar_out", masked_fill_scalar_out, context, self, mask, value, out);
  }
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  const ScalarTensor held(value, self.scalar_type());
  return choose(context, self, mask, held, out);
}

Error masked_fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                             const Tensor& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::masked_fill.Tensor_out");
  if (!all_of(kTypes, self, value, out)) {
    RL_FALL_BACK("aten::masked_fill.Tensor_out", masked_fill_tensor_out, context, self, mask, value, out);
  }
  RL_CHECK(value.dim() == 0, Error::InvalidArgument, "value: expected no dimension, got %ld",
           static_cast<long>(value.dim()));
  return choose(context, self, mask, value, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
