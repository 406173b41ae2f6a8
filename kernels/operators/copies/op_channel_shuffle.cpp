// SPDX-License-Identifier: BSD-3-Clause
// Channel shuffle (ShuffleNet, Zhang et al., 2017): channel g * (C / groups) + i moves to i * groups + g. One
// strided copy for each group: [N, C, spatial...] in any dim order.
#include "kernels/checks/selection.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error channel_shuffle_out(KernelContext&, const Tensor& self, int64_t groups, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::channel_shuffle.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_CHECK(self.dim() >= 3, Error::InvalidArgument, "self: expected rank 3 at least, got %d",
           static_cast<int>(self.dim()));
  const int64_t channels = self.size(1);
  RL_CHECK(groups >= 1 && channels % groups == 0, Error::InvalidArgument,
           "groups: expected a divisor of %ld channels, got %ld", static_cast<long>(channels),
           static_cast<long>(groups));
  RL_TRY(resize_out(out, self.sizes()));
  if (self.numel() == 0) return Error::Ok;
  const auto step = static_cast<ptrdiff_t>(groups);
  const auto length = static_cast<ptrdiff_t>(channels / groups);
  for (ptrdiff_t group = 0; group < step; ++group) {
    View source = View::of(self);
    View target = View::of(out);
    source.slice(1, group * length, length);
    target.slice(1, group, length, step);
    RL_TRY(copy_view(target, source));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
