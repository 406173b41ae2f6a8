// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error floor_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::floor.out");
  return backs::floor_out(context, UnaryProblem{self, out}, [&] {
    return rounding_function<kTypes>(self, out, [](auto x) { return std::floor(x); });
  });
}

}  // namespace rushlight::kernels
