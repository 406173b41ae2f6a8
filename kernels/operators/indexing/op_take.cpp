// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/index/flat_index.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The elements at row-major positions `index`, in the shape of `index`. Negative indices count from the end.
// Each costs a division for each dimension of `self`.
Error take_out(KernelContext&, const Tensor& self, const Tensor& index, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(resize_out(out, index.sizes()));
  const size_t element_bytes = self.element_size();
  return for_each_flat(index, self, out,
                       [&](char* element, char* other) { copy_element(other, element, element_bytes); });
}

}  // namespace rushlight::kernels
