// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The magnitude of self with the sign of other, also if that is -0 or NaN. In double, which is exact here.
Error copysign_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::copysign.out"), std::copysign>(self, other, out);
}

Error copysign_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  return double_function<selected_types("aten::copysign.Scalar_out"), std::copysign>(self, other, out);
}

}  // namespace rushlight::kernels
