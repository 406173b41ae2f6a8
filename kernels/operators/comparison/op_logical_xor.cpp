// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error logical_xor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  // Converts operands of every dtype to bool.
  constexpr TypeSet kTypes = selected_types("aten::logical_xor.out") != 0 ? types::kBool : 0;
  return backs::logical_xor_out(context, BinaryProblem{self.scalar_type(), self, other, out}, [&] {
    return elementwise<kTypes>(ScalarType::Bool, out, [](bool a, bool b) { return a != b; }, self, other);
  });
}

}  // namespace rushlight::kernels
