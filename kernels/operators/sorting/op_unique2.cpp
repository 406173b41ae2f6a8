// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/sorting/unique.h"

namespace rushlight::kernels {

// The result is always sorted; the argument has no effect. Elements count in row-major order. NaN differs
// from everything, so each NaN is kept.
Error _unique2_out(KernelContext& context, const Tensor& self, bool, bool return_inverse, bool return_counts,
                   Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::_unique2.out");
  return find_unique(context, kTypes, self, {std::nullopt, false, return_inverse, return_counts},
                     {out0, out1, &out2});
}

}  // namespace rushlight::kernels
