// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error asin_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::asin.out");
  return backs::asin_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_asin>(self, out, [](auto x) { return std::asin(x); });
  });
}

}  // namespace rushlight::kernels
