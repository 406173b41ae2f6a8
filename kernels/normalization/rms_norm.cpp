// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/normalization/rms_norm.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

Error plan_rms_norm(const Tensor& input, Span<const int64_t> normalized_shape,
                    const std::optional<Tensor>& weight, const Tensor& out, RmsNormPlan* plan) {
  RL_TRY(check_same_dtype(input, out, "input and out"));
  const Span<const SizesType> sizes = input.sizes();
  const size_t last = normalized_shape.size();
  RL_CHECK(last >= 1 && last <= sizes.size(), Error::InvalidArgument,
           "normalized_shape: expected 1 to %d dimensions, got %d", static_cast<int>(sizes.size()),
           static_cast<int>(last));
  // Leading dimensions form the rows, the normalized ones a row.
  const size_t leading = sizes.size() - last;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto size = static_cast<size_t>(sizes[d]);
    (d < leading ? plan->rows : plan->count) *= size;
    RL_CHECK(d < leading || sizes[d] == normalized_shape[d - leading], Error::InvalidArgument,
             "normalized_shape: expected %ld for dimension %d, got %ld", static_cast<long>(sizes[d]),
             static_cast<int>(d), static_cast<long>(normalized_shape[d - leading]));
  }
  if (weight) {
    RL_TRY(check_same_dtype(input, *weight, "input and weight"));
    // The weight has the normalized shape and repeats for each row.
    bool same = weight->sizes().size() == last;
    for (size_t d = 0; same && d < last; ++d) same = weight->sizes()[d] == sizes[leading + d];
    RL_CHECK(same, Error::InvalidArgument, "weight: expected the sizes of normalized_shape");
  }
  return resize_out(out, sizes);
}

}  // namespace rushlight::kernels
