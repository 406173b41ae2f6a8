// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// No integer is.
Error isinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::isinf.out");
  return classify<kTypes>(self, out, [](auto x) { return std::isinf(x); });
}

}  // namespace rushlight::kernels
