// SPDX-License-Identifier: BSD-3-Clause
// RMS normalization row by row in float32; tensors that are not row-major take the portable code.
//
//   y = x / sqrt(mean(x^2) + eps) * weight
#include <cmath>

#include "kernels/backs/norm.h"
#include "kernels/checks/sizes.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"

namespace rushlight::kernels::host {

namespace {

bool is_row_major(const Tensor& tensor) { return kernels::is_row_major(tensor.dim_order(), tensor.sizes()); }

}  // namespace

Error rms_norm(KernelContext& context, const RmsNormProblem& problem) {
  const Tensor& input = problem.input;
  const Tensor& out = problem.out;
  const std::optional<Tensor>& weight = problem.weight;
  const RmsNormPlan& plan = problem.plan;
  const double eps = problem.eps;
  const size_t n = plan.count;
  // n == 0 would divide by zero below; the portable code writes nothing then.
  if (n == 0 || !is_row_major(input) || !is_row_major(out) || (weight && !is_row_major(*weight))) {
    normalize_by_rms<float>(input, weight, eps, plan, out);
    return Error::Ok;
  }
  const auto* from = input.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  const float* factors = weight ? weight->const_data_ptr<float>() : nullptr;
  constexpr size_t kElements = 16384;  // worth another thread
  context.parallel_for(plan.rows, kElements / n + 1, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      const float* x = from + row * n;
      // Both passes read the row, the second from cache.
      const float mean = ukernel::squares_span(n, x, 0) / static_cast<float>(n);
      const float scale = 1.0f / std::sqrt(mean + static_cast<float>(eps));
      ukernel::normalize_span(n, x, 0, scale, factors, nullptr, to + row * n);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
