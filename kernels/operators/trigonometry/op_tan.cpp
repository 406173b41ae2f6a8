// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error tan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::tan.out");
  return backs::tan_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_tan>(self, out, [](auto x) { return std::tan(x); });
  });
}

}  // namespace rushlight::kernels
