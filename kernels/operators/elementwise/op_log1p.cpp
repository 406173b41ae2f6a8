// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// log(1 + x), exact for small x.
Error log1p_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::log1p.out");
  return backs::log1p_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_log1p>(self, out, [](auto x) { return std::log1p(x); });
  });
}

}  // namespace rushlight::kernels
