// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error sqrt_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sqrt.out");
  return backs::sqrt_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_sqrt>(self, out, [](auto x) { return std::sqrt(x); });
  });
}

}  // namespace rushlight::kernels
