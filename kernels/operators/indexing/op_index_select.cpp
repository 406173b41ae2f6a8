// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/index/gather.h"
#include "kernels/index/index.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// Slice i of `out` along `dim` is slice index[i] of `self`. Copies whole slices in merged spans, whose plan
// is made once for all indices; negative indices are refused.
Error index_select_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                       Tensor& out) {
  IndexSelectPlan plan;
  RL_TRY(plan_index_select(self, dim, index, out, &plan));
  const size_t count = out.numel() == 0 ? 0 : index.numel();
  return backs::index_select_out(context, IndexSelectProblem{plan, index, count}, [&]() -> Error {
    const View& source = plan.source;
    const View& target = plan.target;
    const size_t d = plan.dim;
    const Axis& run = plan.others.inner();
    const size_t element = element_size(source.type);
    const auto step = static_cast<ptrdiff_t>(index.element_size());
    const char* at = index.const_data_ptr<char>();
    for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(count); ++i, at += step) {
      const int64_t value = read_index(at, index.scalar_type());
      RL_TRY(check_index(value, source.sizes[d]));
      plan.others.walk(source.data + static_cast<ptrdiff_t>(value) * source.strides[d],
                       target.data + i * target.strides[d], 1, [&](const char* from, char* to) {
                         copy_elements(to, run.output, from, run.input, run.size, element);
                       });
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
