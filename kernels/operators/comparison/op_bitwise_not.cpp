// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Bool elements are 0 and 1 in an integer loop, so their complement flips the lowest bit only.
Error bitwise_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::bitwise_not.out");
  const int64_t flipped = self.scalar_type() == ScalarType::Bool ? 1 : -1;
  const auto complement = [flipped](auto a) {
    using T = decltype(a);
    return static_cast<T>(a ^ static_cast<T>(flipped));
  };
  return elementwise<kTypes, Signs::kIgnored>(self.scalar_type(), out, complement, self);
}

}  // namespace rushlight::kernels
