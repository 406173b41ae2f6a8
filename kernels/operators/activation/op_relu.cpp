// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error relu_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::relu.out");
  return backs::relu_out(context, UnaryProblem{self, out}, [&] {
    // NaN is not below zero and stays.
    const auto rectify = [](auto x) { return is_negative(x) ? decltype(x)(0) : x; };
    return elementwise<kTypes>(out, rectify, self);
  });
}

}  // namespace rushlight::kernels
