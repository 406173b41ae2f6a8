// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/norm.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

// The p-norm over `dim`, by default over all dimensions; an empty list means all, too.
Error linalg_vector_norm_out(KernelContext&, const Tensor& self, const Scalar& ord,
                             std::optional<Span<const int64_t>> dim, bool keepdim,
                             std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_vector_norm.out");
  return norm_over(kTypes, self, ord.to<double>(), all_if_empty(dim), keepdim, dtype, out);
}

}  // namespace rushlight::kernels
