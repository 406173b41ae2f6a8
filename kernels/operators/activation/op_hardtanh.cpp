// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/math/clamp.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Clamps to [min_val, max_val]. For integer tensors the bounds are truncated to integers. NaN stays NaN; if
// the bounds are in the wrong order every other element becomes max_val.
Error hardtanh_out(KernelContext& context, const Tensor& self, const Scalar& min_val, const Scalar& max_val,
                   Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::hardtanh.out");
  const ScalarType type = self.scalar_type();
  RL_TRY(check_fits(min_val, type, "min_val"));
  RL_TRY(check_fits(max_val, type, "max_val"));
  const auto bound = [&](auto element) {
    using T = typename decltype(element)::Element;
    return [low = convert_scalar<T>(min_val), high = convert_scalar<T>(max_val)](T x) {
      return at_most(at_least(x, low), high);
    };
  };
  // The bounds fit in the dtype, so that loops of uint8 and int32 compare as int64 does. Only uint64 has
  // signs that matter.
  static_assert(!contains(kTypes, ScalarType::UInt64));
  return backs::hardtanh_out(
      context, BoundsProblem{{self, out}, min_val.to<float>(), max_val.to<float>()},
      [&] { return elementwise_for<kTypes, Signs::kIgnored>(type, out, bound, self); });
}

}  // namespace rushlight::kernels
