// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error cos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cos.out");
  return backs::cos_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_cos>(self, out, [](auto x) { return std::cos(x); });
  });
}

}  // namespace rushlight::kernels
