// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/normalization/softmax.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_softmax.out");
  RL_TRY(check_softmax_types(self, half_to_float, out));
  Lanes lanes;
  RL_TRY(lanes.plan(self, dim, out));
  return backs::softmax_out(context, SoftmaxProblem{lanes, self, out}, [&] {
    return for_each_softmax_lane<kTypes>(
        lanes, self.scalar_type(), half_to_float, [](const auto& lane, auto zero) {
          using T = decltype(zero);
          const LaneScale<T> scale = lane_scale<T>(lane);
          for (size_t i = 0; i < lane.size; ++i) {
            lane.at(i) = std::exp(static_cast<T>(lane.get(i)) - scale.largest) / scale.sum;
          }
        });
  });
}

}  // namespace rushlight::kernels
