// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error reciprocal_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::reciprocal.out");
  return backs::reciprocal_out(context, FloatingProblem<kTypes>{self, out}, [&] {
    if constexpr ((kTypes & types::kComplex) != 0) {
      if (is_complex(self.scalar_type())) {
        return short_complex_function<kTypes, complex_reciprocal>(self, out);
      }
    }
    return floating_function<kTypes>(self, out, [](auto x) { return decltype(x)(1) / x; });
  });
}

}  // namespace rushlight::kernels
