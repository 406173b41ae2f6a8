// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error atan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::atan.out");
  return backs::atan_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_atan>(self, out, [](auto x) { return std::atan(x); });
  });
}

}  // namespace rushlight::kernels
