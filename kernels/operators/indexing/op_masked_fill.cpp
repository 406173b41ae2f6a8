// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/elementwise.h"
#include "kernels/walk/masked_elements.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

Error check_dtypes(const Tensor& self, const Tensor& mask, const Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  return check_mask_dtype(mask);
}

// `value` where the mask is true, else `self`: one elementwise pass, which broadcasts all three.
template <TypeSet kTypes>
Error masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value, Tensor& out) {
  // The mask is converted to the compute type like the other inputs; nonzero means true.
  const auto select = [](auto masks, auto a, auto b) { return masks != decltype(masks)(0) ? b : a; };
  return elementwise<kTypes, Signs::kIgnored>(self.scalar_type(), out, select, mask, self, value);
}

}  // namespace

Error masked_fill_scalar_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                             const Scalar& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::masked_fill.Scalar_out");
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  RL_TRY(check_dtypes(self, mask, out));
  const ScalarTensor number(value, self.scalar_type());
  return backs::masked_fill_scalar_out(context, SelectProblem{mask, number, self, out},
                                       [&] { return masked_fill<kTypes>(self, mask, number, out); });
}

// The value may have another dtype, which converts to that of `self` with wrap-around or truncation.
Error masked_fill_tensor_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                             const Tensor& value, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::masked_fill.Tensor_out");
  RL_CHECK(value.dim() == 0, Error::InvalidArgument, "value: expected rank 0, got %ld",
           static_cast<long>(value.dim()));
  RL_TRY(check_dtypes(self, mask, out));
  return backs::masked_fill_tensor_out(context, SelectProblem{mask, value, self, out},
                                       [&] { return masked_fill<kTypes>(self, mask, value, out); });
}

}  // namespace rushlight::kernels
