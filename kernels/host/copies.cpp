// SPDX-License-Identifier: BSD-3-Clause
// Copies that reorder or repeat elements.
#include "kernels/backs/copies.h"

#include "kernels/host/fast_copy.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels::host {

Error copy(KernelContext& context, const CopyProblem& problem) {
  return fast_copy_to_out(context, problem.source, problem.out);
}

// Like copy_reshaped(), which copies if neither tensor is row-major.
Error reshape(KernelContext& context, const ReshapeProblem& problem) {
  const Tensor& source = problem.self;
  const Tensor& target = problem.out;
  const ScalarType type = target.scalar_type();
  if (is_contiguous_dim_order(target.dim_order())) {
    fast_copy(context, View::row_major(target.mutable_data_ptr(), type, source.sizes()), View::of(source));
  } else if (is_contiguous_dim_order(source.dim_order())) {
    fast_copy(context, View::of(target), View::row_major(source.mutable_data_ptr(), type, target.sizes()));
  } else {
    copy_reshaped(target, source);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
