// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/limit_norm.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

// Scales slices along `dim` down to maxnorm if their p-norm exceeds it. Two passes over each slice that is
// scaled, in place in the copy.
Error renorm_out(KernelContext&, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm,
                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::renorm.out");
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  const double order = p.to<double>();
  const double limit = maxnorm.to<double>();
  RL_CHECK(self.dim() > 1, Error::InvalidArgument, "self: expected at least 2 dimensions, got %ld",
           static_cast<long>(self.dim()));
  RL_CHECK(order > 0, Error::InvalidArgument, "p: expected more than 0");
  RL_CHECK(limit >= 0, Error::InvalidArgument, "maxnorm: expected 0 at least");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(copy_to_out(View::of(self), out));
  for (SizesType i = 0; i < out.sizes()[d]; ++i) {
    limit_norm(View::of(out).select(d, i), order, limit);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
