// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error acosh_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::acosh.out");
  return floating_function<kTypes, complex_acosh>(self, out, [](auto x) { return std::acosh(x); });
}

}  // namespace rushlight::kernels
