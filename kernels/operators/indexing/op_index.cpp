// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/index/indexing.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// self[indices...]: index tensors broadcast against each other, masks count as the positions of their true
// elements, and None keeps a dimension. If the indexed dimensions are adjacent the result has the broadcast
// shape in their position, otherwise in front, as in NumPy.
Error index_Tensor_out(KernelContext& context, const Tensor& self, Span<const std::optional<Tensor>> indices,
                       Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Indexing indexing;
  RL_TRY(indexing.plan(self, indices));
  RL_TRY(resize_out(out, indexing.result().span()));
  return backs::index_Tensor_out(context, IndexProblem{indexing, self, indices, out}, [&] {
    return indexing.run(self, View::of(out), Indexing::kRead, copy_elements);
  });
}

}  // namespace rushlight::kernels
