// SPDX-License-Identifier: BSD-3-Clause
// fmax and fmin: NaN counts as missing, so the result is the other operand. (maximum and minimum return NaN.)
// Floating dtypes call the C library in double, which is exact here; integers and bool compare directly.
#include <cmath>

#include "kernels/math/double_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error fmax_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::fmax.out");
  const ScalarType compute = result_type(self, other);
  if (is_floating(compute)) return double_function<kTypes, std::fmax>(self, other, out);
  const auto larger = [](auto a, auto b) { return a < b ? b : a; };
  return elementwise<(kTypes & ~types::kFloating)>(compute, out, larger, self, other);
}

Error fmin_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::fmin.out");
  const ScalarType compute = result_type(self, other);
  if (is_floating(compute)) return double_function<kTypes, std::fmin>(self, other, out);
  const auto smaller = [](auto a, auto b) { return b < a ? b : a; };
  return elementwise<(kTypes & ~types::kFloating)>(compute, out, smaller, self, other);
}

}  // namespace rushlight::kernels
