// SPDX-License-Identifier: BSD-3-Clause
// log(cumsum(exp(x))) along a dimension, as a running log-sum-exp in double: it cannot overflow, as no
// exponential of x itself is formed. One exponential and one logarithm for each element. The running value is
// not rounded; each output is, once. In builds for speed the exponentials of 16-bit floats are of float32.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/log_add.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// T is the type of exponentials; the sum is in double, so that small summands are not lost.
template <class T>
void add_up(const Fiber* fibers, ScalarType type) {
  double sum = -INFINITY;
  constexpr ptrdiff_t kPiece = 32;
  double values[kPiece];
  for (ptrdiff_t first = 0; first < fibers[0].size; first += kPiece) {
    const auto n = static_cast<size_t>(std::min(fibers[0].size - first, kPiece));
    load_numbers(values, fibers[0].data + first * fibers[0].stride, fibers[0].stride, type, n);
    for (size_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, double>) {
        values[i] = sum = log_add(sum, values[i]);
      } else if (sum != values[i] || !std::isinf(sum)) {
        // In double the sum with 1 keeps more digits than the exponential needs.
        const T apart = static_cast<T>(std::fabs(sum - values[i]));
        values[i] = sum = (sum < values[i] ? values[i] : sum) + std::log(1 + double{std::exp(-apart)});
      }
    }
    store_numbers(fibers[1].data + first * fibers[1].stride, fibers[1].stride, type, values, n);
  }
}

}  // namespace

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
#ifndef __OPTIMIZE_SIZE__
    if (contains(types::kReducedFloat, type)) {
      add_up<float>(fibers, type);
      return Error::Ok;
    }
#endif
    add_up<double>(fibers, type);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
