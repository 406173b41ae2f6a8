// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error exp2_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::exp2.out");
  return floating_function<kTypes, complex_exp2>(self, out, [](auto x) { return std::exp2(x); });
}

}  // namespace rushlight::kernels
