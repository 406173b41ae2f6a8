// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The view of sizes, strides and offset counts elements of the memory of `self`, whatever its dim order;
// read_strided() proves that it stays inside.
Error as_strided_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> size,
                          Span<const int64_t> stride, std::optional<int64_t> storage_offset, Tensor& out) {
  View source;
  RL_TRY(read_strided(self, size, stride, storage_offset, &source));
  return copy_to_out(source, out);
}

}  // namespace rushlight::kernels
