// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "kernels/shared/elementwise.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error bitwise_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::bitwise_not.out");
  const auto complement = [](auto a) {
    if constexpr (std::is_same_v<decltype(a), bool>) {
      return !a;
    } else {
      return static_cast<decltype(a)>(~a);
    }
  };
  return elementwise<kTypes>(self.scalar_type(), out, complement, self);
}

}  // namespace rushlight::kernels
