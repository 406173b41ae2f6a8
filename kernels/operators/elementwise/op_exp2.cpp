// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error exp2_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::exp2.out");
  return backs::exp2_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_exp2>(self, out, [](auto x) { return std::exp2(x); });
  });
}

}  // namespace rushlight::kernels
