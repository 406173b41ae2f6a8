// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/sorting/sorted_search.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("aten::searchsorted.Tensor_out") | selected_types("aten::searchsorted.Scalar_out");

// `side` is another form of `right`, and the two must not contradict each other. Sequences are the last
// dimension; each sequence of a batch is searched for the values with the same outer index. NaN is the
// largest value.
Error search(const Tensor& sequences, const Tensor& values, bool out_int32, bool right,
             const std::optional<std::string_view>& side, const std::optional<Tensor>& sorter,
             const Tensor& out) {
  RL_CHECK(!side || *side == "left" || *side == "right", Error::InvalidArgument,
           "side: expected left or right, got %.*s", static_cast<int>(side->size()), side->data());
  RL_CHECK(!side || *side == "right" || !right, Error::InvalidArgument,
           "side: expected right if right is true, got left");
  return search_sorted(kTypes, sequences, values,
                       {right || (side && *side == "right"), out_int32, sorter ? &*sorter : nullptr}, out);
}

}  // namespace

Error searchsorted_Tensor_out(KernelContext&, const Tensor& sorted_sequence, const Tensor& self,
                              bool out_int32, bool right, std::optional<std::string_view> side,
                              const std::optional<Tensor>& sorter, Tensor& out) {
  RL_TRY(check_same_dtype(sorted_sequence, self, "sorted_sequence and self"));
  return search(sorted_sequence, self, out_int32, right, side, sorter, out);
}

Error searchsorted_Scalar_out(KernelContext&, const Tensor& sorted_sequence, const Scalar& self,
                              bool out_int32, bool right, std::optional<std::string_view> side,
                              const std::optional<Tensor>& sorter, Tensor& out) {
  const ScalarTensor value(self, searched_type(self, sorted_sequence.scalar_type()));
  // Also 0-dim: a sequence of one element.
  RL_CHECK(sorted_sequence.dim() <= 1, Error::InvalidArgument,
           "sorted_sequence: expected 1 dimension for a number, got %ld",
           static_cast<long>(sorted_sequence.dim()));
  return search(sorted_sequence, value, out_int32, right, side, sorter, out);
}

}  // namespace rushlight::kernels
