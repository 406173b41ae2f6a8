// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/arithmetic.h"
#include "kernels/shared/cumulative.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error cumprod_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
                  Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cumprod.out");
  const auto multiply = [](auto a, auto b) { return wrapping_multiply(a, b); };
  return cumulate<kTypes>(self, dim, dtype, out, 1, multiply);
}

}  // namespace rushlight::kernels
