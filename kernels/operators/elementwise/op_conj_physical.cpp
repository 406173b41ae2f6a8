// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/complex_view.h"
#include "kernels/walk/elementwise.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Real values are copied unchanged.
Error conj_physical_out(KernelContext&, const Tensor& self, Tensor& out) {
#ifndef __OPTIMIZE_SIZE__
  constexpr TypeSet kTypes =
      (selected_types("aten::conj_physical.out") | selected_types("aten::_conj_physical.out")) &
      type_set(ScalarType::ComplexFloat, ScalarType::ComplexDouble);
  if constexpr (kTypes != 0) {
    if (contains(kTypes, self.scalar_type())) {
      const auto conjugated = [](auto z) { return decltype(z)(z.real, -z.imag); };
      return elementwise<kTypes, Signs::kIgnored>(self.scalar_type(), out, conjugated, self);
    }
  }
#endif
  RL_TRY(copy_to_out(View::of(self), out));
  if (is_complex(self.scalar_type())) conjugate(out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
