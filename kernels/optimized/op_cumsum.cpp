// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/lane_walk.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error cumsum_out(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
                 Tensor& out);

namespace optimized {

// Held in double, as PyTorch does.
Error cumsum_out(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::cumsum.out");
  if (!all_of(kTypes, self, out))
    RL_FALL_BACK("aten::cumsum.out", cumsum_out, context, self, dim, dtype, out);
  RL_TRY(check_requested_dtype(dtype, out));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(resize_out(out, self.sizes()));
  const View views[] = {at_least_1d(self), at_least_1d(out)};
  return for_each_lane(views, d, [](const ViewLane* lanes) {
    const char* from = lanes[0].data;
    char* to = lanes[1].data;
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < lanes[0].size; ++i, from += lanes[0].stride, to += lanes[1].stride) {
      sum += static_cast<double>(*reinterpret_cast<const float*>(from));
      *reinterpret_cast<float*>(to) = static_cast<float>(sum);
    }
    return Error::Ok;
  });
}

}  // namespace optimized

}  // namespace rushlight::kernels
