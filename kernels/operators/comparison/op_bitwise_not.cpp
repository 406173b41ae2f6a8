// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Two sets of loops, because functions without constants have loops for narrow integers. Bool elements are 0
// and 1 in an integer loop, so their complement flips the lowest bit only.
Error bitwise_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::bitwise_not.out");
  if constexpr (contains(kTypes, ScalarType::Bool)) {
    if (self.scalar_type() == ScalarType::Bool) {
      const auto flip = [](auto a) { return static_cast<decltype(a)>(a ^ 1); };
      return elementwise<(kTypes & type_set(ScalarType::Bool, ScalarType::Byte)), Signs::kIgnored>(
          ScalarType::Bool, out, flip, self);
    }
  }
  const auto complement = [](auto a) { return static_cast<decltype(a)>(~a); };
  return elementwise<(kTypes & ~types::kBool), Signs::kIgnored>(self.scalar_type(), out, complement, self);
}

}  // namespace rushlight::kernels
