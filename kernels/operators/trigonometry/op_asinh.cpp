// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error asinh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::asinh.out");
  return backs::asinh_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_asinh>(self, out, [](auto x) { return std::asinh(x); });
  });
}

}  // namespace rushlight::kernels
