// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Integers are never infinite. A complex element is infinite if one of its parts is. The three operators
// share one loop, so its set of dtypes is their union, and the two narrower ones check their own set first.
template <TypeSet kTypes>
Error is_infinite(const Tensor& self, Tensor& out, bool positive, bool negative) {
  // NaN equals nothing. Two comparisons instead of branches, so that compilers vectorize the loop.
  const double above = positive ? HUGE_VAL : NAN;
  const double below = negative ? -HUGE_VAL : NAN;
  const auto matches = [above, below](auto x) {
    using T = decltype(x);
    return static_cast<bool>(static_cast<int>(x == static_cast<T>(above)) |
                             static_cast<int>(x == static_cast<T>(below)));
  };
  return classify<kTypes>(self, out, matches);
}

constexpr TypeSet kTypes = selected_types("aten::isinf.out") | selected_types("aten::isposinf.out") |
                           selected_types("aten::isneginf.out");

}  // namespace

Error isinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  return is_infinite<kTypes>(self, out, true, true);
}

Error isposinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kOwn = selected_types("aten::isposinf.out");
  if (!contains(kOwn, self.scalar_type())) return unsupported_type(self.scalar_type());
  return is_infinite<kTypes>(self, out, true, false);
}

Error isneginf_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kOwn = selected_types("aten::isneginf.out");
  if (!contains(kOwn, self.scalar_type())) return unsupported_type(self.scalar_type());
  return is_infinite<kTypes>(self, out, false, true);
}

}  // namespace rushlight::kernels
