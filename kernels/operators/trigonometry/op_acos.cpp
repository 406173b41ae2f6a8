// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// NaN outside [-1, 1] for real elements; complex ones have branch cuts there, see complex_math.h.
Error acos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::acos.out");
  return backs::acos_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_acos>(self, out, [](auto x) { return std::acos(x); });
  });
}

}  // namespace rushlight::kernels
