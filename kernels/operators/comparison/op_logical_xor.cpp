// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error logical_xor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  // Converts operands of every dtype to bool.
  constexpr TypeSet kTypes = selected_types("aten::logical_xor.out") != 0 ? types::kBool : 0;
  return elementwise<kTypes>(ScalarType::Bool, out, [](bool a, bool b) { return a != b; }, self, other);
}

}  // namespace rushlight::kernels
