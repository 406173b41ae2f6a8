// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// sqrt(self^2 + other^2), in double.
Error hypot_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::hypot.out"), std::hypot>(self, other, out);
}

}  // namespace rushlight::kernels
