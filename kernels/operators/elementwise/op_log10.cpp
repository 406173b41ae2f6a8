// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error log10_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::log10.out");
  return backs::log10_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_log10>(self, out, [](auto x) { return std::log10(x); });
  });
}

}  // namespace rushlight::kernels
