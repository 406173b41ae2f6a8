// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/sorting/sorted_search.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::bucketize.Tensor_out") | selected_types("aten::bucketize.Scalar_out");

// The insertion positions of all values in one ascending sequence: log2(n) comparisons each. That the
// boundaries ascend is not checked.
Error bucketize(const Tensor& values, const Tensor& boundaries, bool out_int32, bool right, Tensor& out) {
  RL_CHECK(boundaries.dim() == 1, Error::InvalidArgument, "boundaries: expected 1 dimension, got %ld",
           static_cast<long>(boundaries.dim()));
  return search_sorted(kTypes, boundaries, values, {right, out_int32}, out);
}

}  // namespace

Error bucketize_Tensor_out(KernelContext&, const Tensor& self, const Tensor& boundaries, bool out_int32,
                           bool right, Tensor& out) {
  RL_TRY(check_same_dtype(self, boundaries, "self and boundaries"));
  return bucketize(self, boundaries, out_int32, right, out);
}

Error bucketize_Scalar_out(KernelContext&, const Scalar& self, const Tensor& boundaries, bool out_int32,
                           bool right, Tensor& out) {
  // A floating scalar keeps its fraction beside integer boundaries: it is held in float32.
  const ScalarTensor value(self, searched_type(self, boundaries.scalar_type()));
  return bucketize(value, boundaries, out_int32, right, out);
}

}  // namespace rushlight::kernels
