// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error acosh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::acosh.out");
  return backs::acosh_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_acosh>(self, out, [](auto x) { return std::acosh(x); });
  });
}

}  // namespace rushlight::kernels
