// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error sinh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sinh.out");
  return backs::sinh_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_sinh>(self, out, [](auto x) { return std::sinh(x); });
  });
}

}  // namespace rushlight::kernels
