// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// The largest finite value.
double largest(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return 65504;
    case ScalarType::BFloat16:
      return 3.38953138925153547590e38;
    case ScalarType::Float:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace

// Replaces NaN by 0 and infinities by the largest finite values of the dtype, unless the caller gives others.
// Integers are copied.
Error nan_to_num_out(KernelContext&, const Tensor& self, std::optional<double> nan,
                     std::optional<double> posinf, std::optional<double> neginf, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::nan_to_num.out");
  const ScalarType type = self.scalar_type();
  if (!is_floating(type) && contains(kTypes, type) && out.scalar_type() == type) {
    return copy_to_out(View::of(self), out);
  }
  const auto replace = [&](auto element) {
    using T = typename decltype(element)::Element;
    if constexpr (std::is_floating_point_v<T>) {
      // Given values are converted to the compute dtype, and to infinity if a 16-bit dtype cannot hold them.
      const auto none = static_cast<T>(nan.value_or(0));
      const auto top = static_cast<T>(posinf.value_or(largest(type)));
      const auto bottom = static_cast<T>(neginf.value_or(-largest(type)));
      // Selections instead of branches, so that compilers vectorize the loop.
      return [none, top, bottom](T x) {
        constexpr T kInfinity = std::numeric_limits<T>::infinity();
        T result = x == kInfinity ? top : x;
        result = x == -kInfinity ? bottom : result;
        return x != x ? none : result;
      };
    } else {
      return [](T x) { return x; };
    }
  };
  return elementwise_for<kTypes, Signs::kIgnored>(type, out, replace, self);
}

}  // namespace rushlight::kernels
