// SPDX-License-Identifier: BSD-3-Clause
// Softmax along one dimension, with the maximum subtracted to prevent overflow. Computes each exponential
// twice, for the sum and for the result, so that it needs no scratch: the output may have 16 bits, too few to
// hold them. A NaN or an infinite maximum (also of a fiber of only -inf) makes the whole fiber NaN, as in
// PyTorch.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/normalization/softmax.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_softmax.out");
  RL_TRY(check_softmax_types(self, half_to_float, out));
  PairedFibers fibers;
  RL_TRY(fibers.plan(self, dim, out));
  return backs::softmax_out(context, SoftmaxProblem{fibers, self, out}, [&] {
    return for_each_softmax_fiber<kTypes>(
        fibers, self.scalar_type(), half_to_float, [](const auto& fiber, auto zero) {
          using T = decltype(zero);
          const FiberScale<T> scale = fiber_scale<T>(fiber);
          for (size_t i = 0; i < fiber.size; ++i) {
            fiber.at(i) = std::exp(static_cast<T>(fiber.get(i)) - scale.largest) / scale.sum;
          }
        });
  });
}

}  // namespace rushlight::kernels
