// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Integers are never NaN.
Error isnan_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::isnan.out");
  return classify<kTypes>(self, out, [](auto x) { return x != x; });
}

}  // namespace rushlight::kernels
