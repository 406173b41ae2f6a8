// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/walk/unary.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error asin_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::asin.out");
  return floating_function<kTypes, complex_asin>(self, out, [](auto x) { return std::asin(x); });
}

}  // namespace rushlight::kernels
