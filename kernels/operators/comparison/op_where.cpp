// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error where_out(KernelContext& context, const Tensor& condition, const Tensor& self, const Tensor& other,
                Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::where.self_out");
  const ScalarType mask = condition.scalar_type();
  RL_CHECK(mask == ScalarType::Bool || mask == ScalarType::Byte, Error::InvalidType,
           "condition: expected dtype bool or uint8, got %s", to_string(mask));
  // The condition is converted to the compute type like the other inputs; nonzero means true.
  const auto select = [](auto chooses, auto a, auto b) { return chooses != decltype(chooses)(0) ? a : b; };
  return backs::where_out(context, SelectProblem{condition, self, other, out}, [&] {
    return elementwise<kTypes, Signs::kIgnored>(result_type(self, other), out, select, condition, self,
                                                other);
  });
}

}  // namespace rushlight::kernels
