// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// sqrt(self^2 + other^2). Squares of float32 neither overflow nor underflow in double.
struct Hypotenuse {
  template <class T>
  T operator()(T a, T b) const {
#ifndef __OPTIMIZE_SIZE__
    if constexpr (std::is_same_v<T, float>) {
      const double x = a;
      const double y = b;
      const auto length = static_cast<float>(std::sqrt(x * x + y * y));
      return std::isinf(a) || std::isinf(b) ? HUGE_VALF : length;  // also beside NaN
    }
#endif
    return std::hypot(a, b);
  }
};

}  // namespace

Error hypot_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::hypot.out");
  const ScalarType type = result_type(self, other);
  if (!contains(kTypes, type)) return unsupported_type(type);
  return elementwise_floating<kTypes>(out, Hypotenuse{}, self, other);
}

}  // namespace rushlight::kernels
