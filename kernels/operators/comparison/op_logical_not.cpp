// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error logical_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  // Converts operands of every dtype to bool.
  constexpr TypeSet kTypes = selected_types("aten::logical_not.out") != 0 ? types::kBool : 0;
#ifndef __OPTIMIZE_SIZE__
  // Loops of complex elements, whose conversions take longer.
  constexpr TypeSet kComplex =
      selected_types("aten::logical_not.out") & type_set(ScalarType::ComplexFloat, ScalarType::ComplexDouble);
  if constexpr (kComplex != 0) {
    if (contains(kComplex, self.scalar_type())) {
      const auto is_zero = [](auto z) { return bool((z.real == 0) & (z.imag == 0)); };
      return elementwise<kComplex, Signs::kIgnored>(self.scalar_type(), out, is_zero, self);
    }
  }
#endif
  return elementwise<kTypes>(ScalarType::Bool, out, [](bool a) { return !a; }, self);
}

}  // namespace rushlight::kernels
