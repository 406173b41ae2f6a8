// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/elementwise.h"
#include "kernels/shared/extremum.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error minimum_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::minimum.out");
  const auto choose = [](auto a, auto b) { return Smallest::beats(b, a) ? b : a; };
  return elementwise<kTypes>(out, choose, self, other);
}

}  // namespace rushlight::kernels
