// SPDX-License-Identifier: BSD-3-Clause
// log(cumsum(exp(x))) along a dimension, as a running log-sum-exp in double: it cannot overflow, as no
// exponential of x itself is formed. One exponential and one logarithm for each element. The running value is
// not rounded; each output is, once.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/log_add.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error logcumsumexp_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::logcumsumexp.out");
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, out, "self and out"));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(resize_out(out, self.sizes()));
  const View views[] = {at_least_1d(self), at_least_1d(out)};
  return for_each_fiber(views, d, [type](const Fiber* fibers) {
    if ((kTypes & types::kComplex) != 0 && is_complex(type)) {
      // -inf is the logarithm of 0, the sum of no elements.
      WideComplex sum(-INFINITY);
      for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
        sum = complex_log_add(load_complex(fibers[0].data + i * fibers[0].stride, type), sum);
        store_complex(fibers[1].data + i * fibers[1].stride, type, sum);
      }
      return Error::Ok;
    }
    double sum = -INFINITY;
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
      sum = log_add(sum, load_number(fibers[0].data + i * fibers[0].stride, type));
      store_number(fibers[1].data + i * fibers[1].stride, type, sum);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
