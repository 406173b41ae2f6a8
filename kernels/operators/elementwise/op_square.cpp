// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The square of a bool tensor is int64, as in PyTorch.
Error square_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::square.out");
  return backs::square_out(context, UnaryProblem{self, out}, [&] {
    const ScalarType compute = self.scalar_type() == ScalarType::Bool ? ScalarType::Long : self.scalar_type();
    return elementwise<kTypes, Signs::kIgnored>(
        compute, out, [](auto x) { return wrapping_multiply(x, x); }, self);
  });
}

}  // namespace rushlight::kernels
