// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// 1 / (1 + exp(-x)). For large negative x the exponential overflows to infinity and the result is the limit,
// 0. Integers and bool compute in float32.
Error sigmoid_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sigmoid.out");
  return backs::sigmoid_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    const auto sigmoid = [](auto x) {
      using T = decltype(x);
      return T(1) / (T(1) + std::exp(-x));
    };
    return floating_function<kTypes, complex_sigmoid>(self, out, sigmoid);
  });
}

}  // namespace rushlight::kernels
