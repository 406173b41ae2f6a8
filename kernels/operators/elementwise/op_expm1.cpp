// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// exp(x) - 1, exact for small x.
Error expm1_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::expm1.out");
  return backs::expm1_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_expm1>(self, out, [](auto x) { return std::expm1(x); });
  });
}

}  // namespace rushlight::kernels
