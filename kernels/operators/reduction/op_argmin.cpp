// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/extremum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The index (int64) of the first smallest element, or of the first NaN; otherwise as argmax.
Error argmin_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::argmin.out");
  ExtremumSearch search{self, out, nullptr, keepdim, !dim.has_value()};
  RL_TRY(search.plan(kTypes, dim.value_or(-1)));
  return backs::argmin_out(context, SearchProblem{search}, [&] { return arg_extremum(false, search); });
}

}  // namespace rushlight::kernels
