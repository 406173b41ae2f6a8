// SPDX-License-Identifier: BSD-3-Clause
// Log-softmax along one dimension: x - max - log(sum(exp(x - max))). Subtracting the maximum prevents
// overflow; subtracting the logarithm, not dividing, keeps small probabilities exact. Three passes over a
// fiber, one exponential for each element. 16-bit floats compute in float and are rounded once.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/normalization/softmax.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error log_softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                      Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_log_softmax.out");
  RL_TRY(check_softmax_types(self, half_to_float, out));
  PairedFibers fibers;
  RL_TRY(fibers.plan(self, dim, out));
  return backs::log_softmax_out(context, SoftmaxProblem{fibers, self, out}, [&] {
    return for_each_softmax_fiber<kTypes>(
        fibers, self.scalar_type(), half_to_float, [](const auto& fiber, auto zero) {
          using T = decltype(zero);
          const FiberScale<T> scale = fiber_scale<T>(fiber);
          const T log_sum = std::log(scale.sum);
          for (size_t i = 0; i < fiber.size; ++i) {
            fiber.at(i) = static_cast<T>(fiber.get(i)) - scale.largest - log_sum;
          }
        });
  });
}

}  // namespace rushlight::kernels
