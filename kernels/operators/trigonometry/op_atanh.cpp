// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error atanh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::atanh.out");
  return backs::atanh_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_atanh>(self, out, [](auto x) { return std::atanh(x); });
  });
}

}  // namespace rushlight::kernels
