// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error log2_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::log2.out");
  return backs::log2_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_log2>(self, out, [](auto x) { return std::log2(x); });
  });
}

}  // namespace rushlight::kernels
