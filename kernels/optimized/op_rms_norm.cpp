// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/shared/rms_norm.h"
#include "kernels/shared/sizes.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error rms_norm_out(KernelContext& context, const Tensor& input, Span<const int64_t> normalized_shape,
                   const std::optional<Tensor>& weight, double eps, Tensor& out);

namespace optimized {

namespace {

bool is_row_major(const Tensor& tensor) { return kernels::is_row_major(tensor.dim_order(), tensor.sizes()); }

}  // namespace

Error rms_norm_out(KernelContext& context, const Tensor& input, Span<const int64_t> normalized_shape,
                   const std::optional<Tensor>& weight, double eps, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::rms_norm.out");
  if (!all_of(kTypes, input, out)) {
    RL_FALL_BACK("rushlight::rms_norm.out", rms_norm_out, context, input, normalized_shape, weight, eps, out);
  }
  RmsNormPlan plan;
  RL_TRY(plan_rms_norm(input, normalized_shape, weight, out, &plan));
  const size_t n = plan.count;
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
      const float mean = ukernel::squares_run(n, x, 0) / static_cast<float>(n);
      const float scale = 1.0f / std::sqrt(mean + static_cast<float>(eps));
      ukernel::normalize_run(n, x, 0, scale, factors, nullptr, to + row * n);
    }
  });
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
