// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Integers and bool compute in float32, complex elements in complex128; so do all functions of this folder.
Error tanh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::tanh.out");
  return backs::tanh_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_tanh>(self, out, [](auto x) { return std::tanh(x); });
  });
}

}  // namespace rushlight::kernels
