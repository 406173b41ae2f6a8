// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The angle of the point (other, self), in [-pi, pi]; signs of zeros count.
Error atan2_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::atan2.out");
  const ScalarType compute = floating_type(result_type(self, other));
  return backs::atan2_out(context, FloatingBinaryProblem<kTypes>{{compute, self, other, out}}, [&] {
    return elementwise_floating<kTypes>(out, [](auto y, auto x) { return std::atan2(y, x); }, self, other);
  });
}

}  // namespace rushlight::kernels
