// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// 1 / sqrt(x), two roundings in the compute dtype: infinite for 0 and NaN below.
Error rsqrt_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::rsqrt.out");
  return backs::rsqrt_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    return floating_function<kTypes, complex_rsqrt>(self, out,
                                                    [](auto x) { return decltype(x)(1) / std::sqrt(x); });
  });
}

}  // namespace rushlight::kernels
