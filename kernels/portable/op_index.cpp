// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/indexing.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error index_Tensor_out(KernelContext&, const Tensor& self, Span<const std::optional<Tensor>> indices,
                       Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Indexing indexing;
  RL_TRY(indexing.plan(self, indices));
  RL_TRY(resize_out(out, indexing.result().span()));
  return indexing.run(self, View::of(out), Indexing::kRead, copy_elements);
}

}  // namespace rushlight::kernels
