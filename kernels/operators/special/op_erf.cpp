// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error erf_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::erf.out");
  return backs::erf_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes>(self, out, [](auto x) { return std::erf(x); });
  });
}

}  // namespace rushlight::kernels
